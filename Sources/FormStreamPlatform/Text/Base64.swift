/// The bytes in base 64 (RFC 4648 §4), with padding and in one line: the value of `…_b64` keys.
package func base64(_ bytes: [UInt8]) -> String {
  // RFC 4648 §4, table 1.
  let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  let padding = UInt8(ascii: "=")
  var text: [UInt8] = []
  text.reserveCapacity(bytes.count / 3 * 4 + 4)
  var index = 0
  // "Each 24-bit group is represented as four encoded characters."
  while bytes.count - index >= 3 {
    let group = Int(bytes[index]) << 16 | Int(bytes[index + 1]) << 8 | Int(bytes[index + 2])
    text.append(alphabet[group >> 18])
    text.append(alphabet[group >> 12 & 63])
    text.append(alphabet[group >> 6 & 63])
    text.append(alphabet[group & 63])
    index += 3
  }
  // "When fewer than 24 input bits are available in an input group, bits with value zero are added
  // (on the right) to form an integral number of 6-bit groups."
  switch bytes.count - index {
  case 1:
    let group = Int(bytes[index]) << 4
    text += [alphabet[group >> 6], alphabet[group & 63], padding, padding]
  case 2:
    let group = Int(bytes[index]) << 10 | Int(bytes[index + 1]) << 2
    text += [alphabet[group >> 12], alphabet[group >> 6 & 63], alphabet[group & 63], padding]
  default:
    break
  }
  return String(decoding: text, as: UTF8.self)
}

/// The bytes that a base 64 text (RFC 4648 §4) encodes; nil if it is not valid. Padding may be
/// missing.
package func base64Decoded(_ text: some StringProtocol) -> [UInt8]? {
  var bytes: [UInt8] = []
  var group = 0
  var bits = 0
  let digits = text.utf8.reversed().drop { $0 == UInt8(ascii: "=") }.reversed()
  let padding = text.utf8.count - digits.count
  guard padding == 0 || padding <= 2 && text.utf8.count % 4 == 0 else { return nil }
  for digit in digits {
    let value: UInt8
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = digit - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): value = digit - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): value = 62
    case UInt8(ascii: "/"): value = 63
    default: return nil
    }
    group = (group << 6 | Int(value)) & 0xFFFF
    bits += 6
    if bits >= 8 {
      bits -= 8
      bytes.append(UInt8(truncatingIfNeeded: group >> bits))
    }
  }
  return bits == 6 ? nil : bytes
}
