import FormStreamPlatform

/// Repeatedly checks a file that may grow, and reports all changes except growth.
///
/// All readers of a layout share this object, so each reader knows the state of the file that earlier readers have
/// seen.
final class GrowingFile: Sendable {
  let growth: FileGrowth
  /// The identity at the last check that found no change, or only growth.
  private let seen: Guarded<FileIdentity>

  init(_ growth: FileGrowth, seen identity: FileIdentity) {
    self.growth = growth
    seen = Guarded(identity)
  }

  /// The size at the last check that found no change, or only growth.
  var size: Int64 { seen.withLock(\.size) }

  /// The maximum number of checks, a millisecond apart, of a file with a new time but the same size.
  private static let maximumLooks = 20

  /// The change since the last check, with the sizes before and after; nil if the file did not change, or only grew.
  func change(
    in file: OpenedFile
  ) throws(SystemError) -> (change: SourceChange, oldSize: Int64, size: Int64)? {
    for _ in 0..<Self.maximumLooks {
      guard let found = try look(at: file) else { return nil }
      // The bytes are compared, so a new time alone is no change.
      if found.change == .rewritten, growth == .compared { return nil }
      guard found.change == .rewritten else { return found }
      // The system sets a file's times before the write that makes it grow: the new size may follow.
      sleepOneMillisecond()
    }
    let size = size
    return (.rewritten, size, size)
  }

  /// Checks the file once, under the lock, so that each check compares the file with its state at the previous check.
  private func look(
    at file: OpenedFile
  ) throws(SystemError) -> (change: SourceChange, oldSize: Int64, size: Int64)? {
    try seen.withLock { (seen) throws(SystemError) in
      let status = try file.descriptor.status()
      guard let change = seen.change(seenIn: status) else { return nil }
      guard change == .grown else { return (change, seen.size, status.identity.size) }
      seen = status.identity
      return nil
    }
  }
}

/// Compares the bytes of a file at two times without keeping them: by a hash of 64 bits, whose key only this process has.
struct ComparedBytes {
  private var hasher = Hasher()

  mutating func add(_ bytes: UnsafeRawBufferPointer) { hasher.combine(bytes: bytes) }

  var hash: Int { hasher.finalize() }
}
