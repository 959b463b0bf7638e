/// The bytes in the base 64 of RFC 4648 §4, padded and in one line: what `…_b64` keys hold.
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
