extension JSONValue {
  /// The value in one line of its own, with the line feed: how records are written.
  package func line() -> [UInt8] {
    var bytes: [UInt8] = []
    write(to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }

  /// Appends the value's JSON, without any space in it, in time that is linear in its length.
  package func write(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += "null".utf8
    case .boolean(let value): bytes += (value ? "true" : "false").utf8
    case .integer(let value): bytes += String(value).utf8
    case .millionths(let value): writeMillionths(value, to: &bytes)
    case .string(let text): writeString(text, to: &bytes)
    case .array(let elements):
      writeList(of: elements, between: "[", "]", to: &bytes) { element, bytes in
        element.write(to: &bytes)
      }
    case .object(let members):
      writeList(of: members, between: "{", "}", to: &bytes) { member, bytes in
        member.write(to: &bytes)
      }
    }
  }
}

extension JSONValue.Member {
  /// Appends the key, and the value's JSON.
  func write(to bytes: inout [UInt8]) {
    writeString(key, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    value.write(to: &bytes)
  }
}

extension JSONValue: CustomStringConvertible {
  /// The value's JSON, without a line feed.
  package var description: String {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}

private func writeList<Element>(
  of elements: [Element], between opening: Unicode.Scalar, _ closing: Unicode.Scalar,
  to bytes: inout [UInt8], write: (Element, inout [UInt8]) -> Void
) {
  bytes.append(UInt8(ascii: opening))
  var isFirst = true
  for element in elements {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    isFirst = false
    write(element, &bytes)
  }
  bytes.append(UInt8(ascii: closing))
}
