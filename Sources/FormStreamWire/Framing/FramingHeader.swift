import FormStreamMultipart
import FormStreamPlatform

/// A header that says how long a body is.
enum FramingHeader {
  /// RFC 9110 §8.6.
  case contentLength
  /// RFC 9112 §6.1.
  case transferEncoding

  /// The framing header of this name; nil if there is none.
  init?(_ name: UnsafeRawBufferPointer) {
    switch name.count {
    case 14 where name.equalsIgnoringCase("content-length"): self = .contentLength
    case 17 where name.equalsIgnoringCase("transfer-encoding"): self = .transferEncoding
    default: return nil
    }
  }

  /// The framing header of this name; nil if there is none.
  init?(_ name: String) {
    switch name.utf8.count {
    case 14 where name.isSameHeaderName(as: "content-length"): self = .contentLength
    case 17 where name.isSameHeaderName(as: "transfer-encoding"): self = .transferEncoding
    default: return nil
    }
  }

  /// Its name.
  var name: String {
    switch self {
    case .contentLength: "Content-Length"
    case .transferEncoding: "Transfer-Encoding"
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether these bytes are a text, whatever the case of its ASCII letters. The text must be in lower case.
  func equalsIgnoringCase(_ text: StaticString) -> Bool {
    text.withUTF8Buffer { text in
      guard text.count == count else { return false }
      for index in 0..<count where self[index].asciiLowercased != text[index] { return false }
      return true
    }
  }
}
