import FormStreamPlatform

/// Looks at a file that may grow, again and again, and notices all changes but growing.
struct GrowingFile {
  private let growth: FileGrowth
  /// What the last look saw.
  private(set) var seen: FileIdentity

  init(_ growth: FileGrowth, seen identity: FileIdentity) {
    self.growth = growth
    seen = identity
  }

  /// How often, a millisecond apart, a file is looked at again that has a new time and no new size.
  private static let maximumLooks = 20

  /// What changed since the last look, other than that the file grew; nil if nothing did.
  mutating func change(in file: OpenedFile) throws(SystemError) -> SourceChange? {
    for _ in 0..<Self.maximumLooks {
      let status = try file.descriptor.status()
      guard let change = seen.change(seenIn: status) else { return nil }
      guard change == .rewritten else {
        seen = status.identity
        return change == .grown ? nil : change
      }
      // The bytes are compared.
      if growth == .compared { return nil }
      // The system sets a file's times before the write that makes it grow: the size may follow.
      sleepOneMillisecond()
    }
    return .rewritten
  }
}

/// Compares the bytes of a file at two times without keeping them: by a hash of 64 bits, whose key only this process has.
struct ComparedBytes {
  private var hasher = Hasher()

  mutating func add(_ bytes: UnsafeRawBufferPointer) { hasher.combine(bytes: bytes) }

  var hash: Int { hasher.finalize() }
}
