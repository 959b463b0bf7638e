import FormStreamPlatform

/// The first line of a response.
///
/// RFC 9112 §4: status-line = HTTP-version SP status-code SP [ reason-phrase ]
struct StatusLine: Sendable {
  let status: Int
  /// The second digit of the version: 0 or 1, or more in versions that don't exist.
  let minorVersion: Int
  /// The offsets of the reason.
  let reason: Range<Int>

  private static let start: StaticString = "HTTP/"

  /// The index of the first byte that no head begins with; nil if a head may begin like this. Bytes after `last` are not compared,
  /// so that a head that is too long is refused for its length.
  ///
  /// RFC 9112 §2.3: HTTP-name = %s"HTTP", and "HTTP-version is case-sensitive".
  static func firstOddByte(of head: UnsafeRawBufferPointer, upTo last: Int) -> Int? {
    start.withUTF8Buffer { start in
      for index in 0..<min(head.count, start.count) where index <= last {
        if head[index] != start[index] { return index }
      }
      return nil
    }
  }

  /// Reads a line that begins with `HTTP/`; nil if it isn't a status line.
  init?(_ head: UnsafeRawBufferPointer, _ line: Range<Int>) {
    guard let version = Self.version(head, line) else { return nil }
    // RFC 9112 §4: status-code = 3DIGIT. RFC 9110 §15: "three-digit integer code", with classes from 1 on. Classes above 5 are
    // in use by some servers.
    let code = version.end + 1
    guard code + 3 <= line.upperBound, head[version.end] == .space else { return nil }
    var status = 0
    for index in code..<(code + 3) {
      guard head[index].isASCIIDigit else { return nil }
      status = status * 10 + Int(head[index] - UInt8(ascii: "0"))
    }
    guard status >= 100 else { return nil }
    // Some servers leave out the space if there is no reason.
    let afterCode = code + 3
    if afterCode < line.upperBound, head[afterCode] != .space { return nil }
    self.status = status
    minorVersion = version.minor
    reason = min(afterCode + 1, line.upperBound)..<line.upperBound
  }

  /// RFC 9112 §2.3: HTTP-version = HTTP-name "/" DIGIT "." DIGIT
  private static func version(
    _ head: UnsafeRawBufferPointer, _ line: Range<Int>
  ) -> (minor: Int, end: Int)? {
    let number = line.lowerBound + start.utf8CodeUnitCount
    guard number + 3 <= line.upperBound else { return nil }
    if head[number] == UInt8(ascii: "1"), head[number + 1] == UInt8(ascii: "."), head[number + 2].isASCIIDigit {
      return (Int(head[number + 2] - UInt8(ascii: "0")), number + 3)
    }
    // Some servers write `HTTP/2 200` or `HTTP/2.0 200` over HTTP/1.1.
    guard head[number] == UInt8(ascii: "2") else { return nil }
    if head[number + 1] == .space { return (1, number + 1) }
    return head[number + 1] == UInt8(ascii: ".") && head[number + 2] == UInt8(ascii: "0") ? (1, number + 3) : nil
  }
}
