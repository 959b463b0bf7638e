import FormStreamPlatform

/// UUIDs as text (RFC 9562), in lowercase.
package enum UUIDText {
  /// A random UUID: version 4.
  package static func random() -> String {
    var generator = SystemRandomNumberGenerator()
    return random(using: &generator)
  }

  package static func random(using generator: inout some RandomNumberGenerator) -> String {
    let bytes = (0..<2).flatMap { _ in
      withUnsafeBytes(of: (generator.next() as UInt64).bigEndian, Array.init)
    }
    return text(bytes, version: 4)
  }

  /// The UUID of a name (version 8), made from the name's SHA-256. The same name always gets the
  /// same UUID.
  package static func named(_ name: String) throws(DigestError) -> String {
    text(try SHA256.digest(of: Array(name.utf8)).bytes, version: 8)
  }

  /// RFC 9562 §4: four bits for the version, and two for the variant.
  private static func text(_ bytes: [UInt8], version: UInt8) -> String {
    var text = ""
    for (index, byte) in bytes.prefix(16).enumerated() {
      if [4, 6, 8, 10].contains(index) { text += "-" }
      let byte =
        switch index {
        case 6: byte & 0x0F | version << 4
        case 8: byte & 0x3F | 0x80
        default: byte
        }
      for digit in [byte >> 4, byte] {
        text.unicodeScalars.append(Unicode.Scalar(Hexadecimal.digit(digit)))
      }
    }
    return text
  }
}
