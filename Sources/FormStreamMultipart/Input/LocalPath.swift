import FormStreamPlatform

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
}

extension LocalPath: PathBytes {}

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
