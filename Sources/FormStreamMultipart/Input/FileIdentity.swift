/// What makes a file "the same file with the same bytes", as far as the system can tell: place, size
/// and both times. A rewrite that sets the modification time back still moves the change time.
///
/// A store through `mmap` to a page that is already dirty moves neither time, and so can't be seen; nor
/// can what a single write goes on to do, 20 ms and more after it began.
struct FileIdentity: Hashable, Sendable {
  let device: UInt64
  let inode: UInt64
  let size: Int64
  let modified: Timestamp
  let changed: Timestamp
}

/// A point in time as the file system keeps it. The two numbers stay apart: their sum in nanoseconds
/// does not fit 64 bits for every date that a file can bear.
struct Timestamp: Hashable, Sendable {
  let seconds: Int64
  let nanoseconds: Int64

  /// Whether less than 20 ms have passed since, where the clock shows `now`. A time that is further
  /// ahead than that comes from another clock.
  func isRecent(at now: Timestamp) -> Bool {
    let seconds = now.seconds.subtractingReportingOverflow(self.seconds).partialValue
    guard (-1...1).contains(seconds) else { return false }
    return abs(seconds * 1_000_000_000 + now.nanoseconds - nanoseconds) < 20_000_000
  }
}

/// What one look at a file tells.
struct FileStatus: Sendable {
  enum Kind: Sendable {
    case regular
    case directory
    case symlink
    case pipe
    case socket
    case device
  }

  let kind: Kind
  let identity: FileIdentity
  let links: UInt64
}

extension FileStatus {
  /// Looks at a path for an identity that any later change will disturb; nil where something writes to
  /// the file so often that none can be had.
  ///
  /// The kernel stamps files in ticks of up to 10 ms: a rewrite within the tick of the last change
  /// leaves both times as they are, and would go unseen. And it stamps at the beginning of a write: what
  /// a long one does after that goes unseen, too. So a file is looked at until it has been quiet for
  /// 20 ms. The clock is read before the file: what comes after this look bears a later time.
  init?(settling path: LocalPath, followsSymlinks: Bool) throws(SystemError) {
    for _ in 0..<100 {
      let now = Timestamp.fileClock
      let status = try FileStatus(of: path, followsSymlinks: followsSymlinks)
      if status.kind != .regular || !status.identity.changed.isRecent(at: now) {
        self = status
        return
      }
      sleepOneMillisecond()
    }
    return nil
  }
}

/// How a source came to differ from what was laid out.
public struct SourceChange: Hashable, Sendable, RawRepresentable {
  /// The change in one word.
  public let rawValue: String

  /// Takes a change by its word.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// The file holds fewer bytes than it did.
  public static let shrunk = SourceChange(rawValue: "shrunk")
  /// The file holds more bytes than it did.
  public static let grown = SourceChange(rawValue: "grown")
  /// The size is the same, but a time moved: it was written to, or its attributes were changed.
  public static let rewritten = SourceChange(rawValue: "rewritten")
  /// The name stands for another file now, or for none.
  public static let replaced = SourceChange(rawValue: "replaced")
}

extension FileIdentity {
  /// What happened between this identity and a later look at the file, or nil where nothing did.
  func change(seenIn later: FileStatus) -> SourceChange? {
    let other = later.identity
    if (device, inode) != (other.device, other.inode) || later.kind != .regular { return .replaced }
    if other.size < size { return .shrunk }
    if other.size > size { return .grown }
    if (modified, changed) == (other.modified, other.changed) { return nil }
    // A rename over the file, or its removal, takes a link from the one that is open here.
    return later.links == 0 ? .replaced : .rewritten
  }
}
