import FormStreamMultipart
import FormStreamPlatform

extension HTTPHeaders {
  /// The first `Location`. Bytes that are not UTF-8 are percent-encoded one by one, so that the text names the same URL.
  var location: String? {
    guard let field = fields.first(where: { $0.name.isSameHeaderName(as: "Location") }) else {
      return nil
    }
    if let text = String(validating: field.bytes, as: UTF8.self) { return text }
    let encoded = field.bytes.flatMap { byte in
      byte < 0x80
        ? [byte]
        : [UInt8(ascii: "%"), Hexadecimal.digit(byte >> 4), Hexadecimal.digit(byte & 0x0F)]
    }
    return String(decoding: encoded, as: UTF8.self)
  }
}
