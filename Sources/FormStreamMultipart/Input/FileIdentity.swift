/// The values that show whether a file has changed: device, inode, size, and both times. A program
/// that rewrites a file and resets its modification time still changes its change time.
///
/// Two changes can't be seen: a store through `mmap` to a page that is already dirty changes neither time, and a single
/// long write sets the times only at its beginning.
package struct FileIdentity: Hashable, Sendable {
  package let device: UInt64
  package let inode: UInt64
  package let size: Int64
  package let modified: Timestamp
  package let changed: Timestamp

  package init(
    device: UInt64, inode: UInt64, size: Int64, modified: Timestamp, changed: Timestamp
  ) {
    self.device = device
    self.inode = inode
    self.size = size
    self.modified = modified
    self.changed = changed
  }
}

/// A time of a file, in two numbers, because some file times don't fit into 64 bits as nanoseconds.
package struct Timestamp: Hashable, Sendable {
  package let seconds: Int64
  package let nanoseconds: Int64

  package init(seconds: Int64, nanoseconds: Int64) {
    self.seconds = seconds
    self.nanoseconds = nanoseconds
  }

  /// Nanoseconds since 1970, clamped to 64 bits.
  fileprivate var nanosecondsSince1970: Int64 {
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflows) = product.addingReportingOverflow(nanoseconds)
    return overflow || overflows ? (seconds < 0 ? .min : .max) : sum
  }

  /// Whether the time is less than 20 ms before or after `now`. A time further in the future is
  /// from another clock.
  func isRecent(at now: Timestamp) -> Bool {
    let seconds = now.seconds.subtractingReportingOverflow(self.seconds).partialValue
    guard (-1...1).contains(seconds) else { return false }
    return abs(seconds * 1_000_000_000 + now.nanoseconds - nanoseconds) < 20_000_000
  }
}

/// The result of `stat`.
package struct FileStatus: Sendable {
  package enum Kind: Sendable {
    case regular
    case directory
    case symlink
    case pipe
    case socket
    case device
  }

  package let kind: Kind
  package let identity: FileIdentity
  let links: UInt64
  let owner: UInt32
  let mode: UInt32

  /// Who can change the file.
  package var ownership: AppendedFile.Ownership {
    AppendedFile.Ownership(isRegular: kind == .regular, owner: owner, mode: mode)
  }
}

extension FileStatus {
  /// Waits until every later change would show in the file's times, then reads the status. Nil if
  /// something keeps writing to the file.
  ///
  /// The kernel sets file times in ticks of up to 10 ms, and at the beginning of a write. The times don't show a second
  /// change in the same tick, or the rest of a long write. So this waits until the file has not changed for 20 ms. The
  /// clock is read before the status, so that a later change has a later time.
  init?(settling path: LocalPath, followsSymlinks: Bool) throws(SystemError) {
    try self.init(settling: { () throws(SystemError) in
      try FileStatus(of: path, followsSymlinks: followsSymlinks)
    })
  }

  /// Waits like ``init(settling:followsSymlinks:)``, but for an open file, then reads its status.
  init?(settling descriptor: borrowing Descriptor) throws(SystemError) {
    let number = descriptor.withNumber { $0 }
    try self.init(settling: { () throws(SystemError) in try FileStatus(ofDescriptor: number) })
  }

  private init?(settling read: () throws(SystemError) -> FileStatus) throws(SystemError) {
    for _ in 0..<100 {
      let now = Timestamp.fileClock
      let status = try read()
      if status.kind != .regular || !status.identity.changed.isRecent(at: now) {
        self = status
        return
      }
      sleepOneMillisecond()
    }
    return nil
  }
}

/// How a source has changed since the form was laid out.
public struct SourceChange: Hashable, Sendable, RawRepresentable {
  /// The change in one word.
  public let rawValue: String

  /// Wraps the word of a change.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// The file has fewer bytes.
  public static let shrunk = SourceChange(rawValue: "shrunk")
  /// The file has more bytes.
  public static let grown = SourceChange(rawValue: "grown")
  /// The size is the same, but a time is not: the file was written to, or its attributes were
  /// changed.
  public static let rewritten = SourceChange(rawValue: "rewritten")
  /// The path names another file, or none.
  public static let replaced = SourceChange(rawValue: "replaced")
}

extension FileIdentity {
  /// When the file was last written to, in nanoseconds since 1970, clamped to 64 bits.
  package var modifiedNanoseconds: Int64 { modified.nanosecondsSince1970 }
  /// When the file or its attributes were last changed, in nanoseconds since 1970, clamped to 64 bits.
  package var changedNanoseconds: Int64 { changed.nanosecondsSince1970 }

  /// The change between this identity and a later status of the file; nil if nothing changed.
  func change(seenIn later: FileStatus) -> SourceChange? {
    let other = later.identity
    if (device, inode) != (other.device, other.inode) || later.kind != .regular { return .replaced }
    if other.size < size { return .shrunk }
    if other.size > size { return .grown }
    if (modified, changed) == (other.modified, other.changed) { return nil }
    // If the file is removed, or another file is renamed to its path, the file that is open here loses a link.
    return later.links == 0 ? .replaced : .rewritten
  }
}
