import FormStreamPlatform

/// Looks at a file that may grow, again and again, and notices all changes but growing.
///
/// All readers of a layout share it: what one has seen of the file, the next one knows.
final class GrowingFile: Sendable {
  let growth: FileGrowth
  /// What the last look saw that was no change.
  private let seen: Guarded<FileIdentity>

  init(_ growth: FileGrowth, seen identity: FileIdentity) {
    self.growth = growth
    seen = Guarded(identity)
  }

  /// The size that the last look saw.
  var size: Int64 { seen.withLock(\.size) }

  /// How often, a millisecond apart, a file is looked at again that has a new time and no new size.
  private static let maximumLooks = 20

  /// What changed since the last look, other than that the file grew, and the sizes before and after; nil if nothing did.
  func change(
    in file: OpenedFile
  ) throws(SystemError) -> (change: SourceChange, oldSize: Int64, size: Int64)? {
    for _ in 0..<Self.maximumLooks {
      guard let found = try look(at: file) else { return nil }
      // The bytes are compared.
      if found.change == .rewritten, growth == .compared { return nil }
      guard found.change == .rewritten else { return found }
      // The system sets a file's times before the write that makes it grow: the size may follow.
      sleepOneMillisecond()
    }
    let size = size
    return (.rewritten, size, size)
  }

  /// Looks under the lock: of two looks, the later one is compared with the earlier one.
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
