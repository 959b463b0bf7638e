/// A path on this machine, byte for byte.
///
/// Linux allows any bytes in a name but NUL and the slash, so a path is bytes here and never loses one:
/// a file whose name is not UTF-8 can still be opened. Nothing is looked up when a path is made.
public struct LocalPath: Hashable, Sendable {
  /// The path's bytes, without a closing NUL.
  public let bytes: [UInt8]

  /// Takes a path as text; its UTF-8 bytes are the path.
  public init(_ text: String) {
    bytes = Array(text.utf8)
  }

  /// Takes a path as bytes, as a directory listing or `argv` has them.
  public init(bytes: some Sequence<UInt8>) {
    self.bytes = Array(bytes)
  }

  /// The name behind the last slash (slashes at the very end set aside), repaired where it is not
  /// UTF-8: what a form calls the file unless told otherwise.
  public var lastComponent: String {
    let trimmed = bytes.reversed().drop { $0 == UInt8(ascii: "/") }
    let name = trimmed.prefix { $0 != UInt8(ascii: "/") }
    return String(decoding: name.reversed(), as: UTF8.self)
  }

  /// Lends the path to a C function. A path with a NUL inside would be cut there and name another
  /// file, so the layout refuses it before anything comes here (`isUsable`).
  package func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: bytes.count + 1) { buffer in
      for (index, byte) in bytes.enumerated() { buffer[index] = CChar(bitPattern: byte) }
      buffer[bytes.count] = 0
      // There is room for the NUL at least, so there is a place.
      return body(UnsafePointer(buffer.baseAddress.unsafelyUnwrapped))
    }
  }

  /// Whether C can take the path whole.
  package var isUsable: Bool { !bytes.contains(0) }
}

extension LocalPath: ExpressibleByStringLiteral {
  /// Takes a path written in the source.
  public init(stringLiteral value: String) {
    self.init(value)
  }
}

extension LocalPath: CustomStringConvertible {
  /// The path as text, repaired where it is not UTF-8.
  public var description: String { String(decoding: bytes, as: UTF8.self) }
}
