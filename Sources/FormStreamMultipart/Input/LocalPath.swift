import FormStreamPlatform

/// A path on this machine, byte for byte.
///
/// On Linux, a name may contain any bytes except NUL and the slash. So a path is an array of bytes
/// here, and a file whose name is not UTF-8 can be opened. Creating a path does not look it up.
public struct LocalPath: Hashable, Sendable {
  /// The bytes of the path, without the terminating NUL.
  public let bytes: [UInt8]

  /// Creates a path from the UTF-8 bytes of a text.
  public init(_ text: String) {
    bytes = Array(text.utf8)
  }

  /// Creates a path from bytes, for example from a directory listing or `argv`.
  public init(bytes: some Sequence<UInt8>) {
    self.bytes = Array(bytes)
  }

  /// The name after the last slash, not counting slashes at the end. Bytes that are not UTF-8
  /// become U+FFFD.
  public var lastComponent: String { String(decoding: lastComponentBytes, as: UTF8.self) }

  /// The bytes of the name after the last slash, not counting slashes at the end.
  ///
  /// They are the default file name of a file part.
  public var lastComponentBytes: [UInt8] {
    let trimmed = bytes.reversed().drop { $0 == UInt8(ascii: "/") }
    return trimmed.prefix { $0 != UInt8(ascii: "/") }.reversed()
  }
}

extension LocalPath: PathBytes {}

extension LocalPath: ExpressibleByStringLiteral {
  /// Creates a path from a literal.
  public init(stringLiteral value: String) {
    self.init(value)
  }
}

extension LocalPath: CustomStringConvertible {
  /// The path as text; bytes that are not UTF-8 become U+FFFD.
  public var description: String { String(decoding: bytes, as: UTF8.self) }
}
