/// A name and a value, as `application/x-www-form-urlencoded` and queries have them.
public struct URLEncodedField: Sendable, Hashable {
  /// The name.
  public var name: String
  /// The value; where nil, the name stands alone, without `=`.
  public var value: String?

  /// Names a value.
  public init(_ name: String, _ value: String?) {
    self.name = name
    self.value = value
  }

  /// The fields in one line.
  public static func text(of fields: [URLEncodedField]) -> String {
    fields.map { field in
      field.value.map { encoded(field.name) + "=" + encoded($0) } ?? encoded(field.name)
    }
    .joined(separator: "&")
  }

  /// WHATWG URL, application/x-www-form-urlencoded percent-encode set: all but ASCII letters and digits and
  /// `*-._`; a space is a plus.
  package static func encoded(_ text: String) -> String {
    encoded(text.utf8)
  }

  package static func encoded(_ bytes: some Sequence<UInt8>) -> String {
    var encoded: [UInt8] = []
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "*"), UInt8(ascii: "-"),
        UInt8(ascii: "."), UInt8(ascii: "_"):
        encoded.append(byte)
      case UInt8(ascii: " "):
        encoded.append(UInt8(ascii: "+"))
      default:
        encoded.append(UInt8(ascii: "%"))
        encoded.append(contentsOf: [byte >> 4, byte & 15].map { digits[Int($0)] })
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  private static let digits = Array("0123456789ABCDEF".utf8)
}
