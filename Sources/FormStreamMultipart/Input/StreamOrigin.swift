import FormStreamPlatform

/// Where the bytes of a stream part come from: the factory, the length if it is known, and whether
/// a one-shot stream was used.
struct StreamOrigin: Sendable {
  private(set) var length: Int64?
  private let singleUse: SingleUse?
  private let make: @Sendable () throws -> any ByteSource
  /// Checks that all readers of a layout find the same length. Nil if the length was given, or if only one reader can
  /// read the stream.
  private(set) var passLength: PassLength?

  init(
    length: Int64?, singleUse: SingleUse?, make: @escaping @Sendable () throws -> any ByteSource
  ) {
    self.length = length
    self.singleUse = singleUse
    self.make = make
  }

  var isOneShot: Bool { singleUse != nil }

  func open(for part: String) throws(MultipartError) -> any ByteSource {
    if let singleUse, !singleUse.claim() { throw Self.notReplayable(part) }
    do {
      return try make()
    } catch {
      throw MultipartError(
        .streamFailed, on: part, "The stream\(ofPart(part)) could not be opened: \(error).",
        underlying: error)
    }
  }

  /// The same stream, after its first bytes were read ahead. Its first reader gets these bytes, and then the rest of
  /// `source`.
  func resuming(_ source: PeekedSource) -> StreamOrigin {
    let firstUse = SingleUse()
    var origin = StreamOrigin(length: length, singleUse: isOneShot ? SingleUse() : nil) { [make] in
      firstUse.claim() ? source : try make()
    }
    origin.passLength = passLength
    return origin
  }

  /// The same stream, after it was read to its end once.
  func measured(as length: Int64) -> StreamOrigin {
    var origin = self
    origin.length = length
    return origin
  }

  /// The same stream, as a part of one layout.
  func inLayout() -> StreamOrigin {
    var origin = self
    origin.passLength = length == nil && !isOneShot ? PassLength() : nil
    return origin
  }

  static func notReplayable(_ part: String) -> MultipartError {
    MultipartError(
      .notReplayable, on: part,
      "Part \(part.quoted) is a stream that can be read only once, and it was read or would have to be "
        + "skipped: use a file, or a factory that can open the stream again.")
  }
}

/// The number of bytes that was found in a stream of unknown length when it was read to its end.
///
/// The bytes of an earlier reading may be in a digest that was announced, or at a server. If a later reading finds a
/// different number of bytes, the body has changed.
final class PassLength: Sendable {
  private let found = Guarded<Int64?>(nil)

  /// Throws if this reading has more bytes than an earlier complete reading, or ends with fewer bytes.
  func check(_ count: Int64, isEnd: Bool, of part: String) throws(MultipartError) {
    let found = found.withLock { found in
      if isEnd, found == nil { found = count }
      return found
    }
    guard let found, count > found || isEnd && count < found else { return }
    throw MultipartError(
      .sourceChanged, on: part,
      "The stream\(ofPart(part)) had \(counted(found, "byte", "bytes")) when it was read before, and has "
        + (isEnd ? "\(count)" : "more")
        + " now: make it the same each time, or let it be read once.",
      change: count < found ? .shrunk : .grown)
  }
}

/// The right to read a one-shot stream. All copies and layouts of a form share it, so only one of
/// them reads the stream.
final class SingleUse: Sendable {
  private let isClaimed = Guarded(false)

  /// Returns true at the first call, and false afterwards.
  func claim() -> Bool {
    isClaimed.withLock { isClaimed in
      defer { isClaimed = true }
      return !isClaimed
    }
  }
}
