import FormStreamMultipart
import FormStreamPlatform

/// What the headers of a response say about the length of its body.
struct FramingHeaders {
  /// A transfer coding (RFC 9112 §7). All others compress the body, which the request does not ask for, or are unknown.
  enum Coding {
    case chunked
    /// RFC 2616 §3.6: the body isn't changed. It ends with the connection.
    case identity
  }

  private(set) var length: Int64?
  private(set) var coding: Coding?
  /// The first fault; nil if there is none.
  private(set) var error: WireError?

  init(of head: ResponseHead) {
    head.bytes.withUnsafeBytes { bytes in
      for line in head.lines {
        let name = UnsafeRawBufferPointer(rebasing: bytes[line.name])
        guard let header = FramingHeader(name) else { continue }
        let value = UnsafeRawBufferPointer(rebasing: bytes[line.value])
        switch header {
        case .contentLength: noteLengths(value)
        case .transferEncoding: noteCoding(value)
        }
        if error != nil { return }
      }
    }
  }

  /// RFC 9110 §8.6: Content-Length = 1*DIGIT
  ///
  /// RFC 9112 §6.3: an invalid value is an error, "unless the field value can be successfully parsed as a comma-separated list
  /// (Section 5.6.1 of [HTTP]), all values in the list are valid, and all values in the list are the same".
  private mutating func noteLengths(_ value: UnsafeRawBufferPointer) {
    var rest = value[...]
    while true {
      let text = rest.prefix { $0 != UInt8(ascii: ",") }
      guard let number = Int64(decimalDigits: text.trimmingBlanks()) else {
        return error = .contentLength(Array(value.prefix(WireError.shownBytes)))
      }
      if let length, length != number { return error = .contentLengths(length, number) }
      length = number
      guard text.endIndex < rest.endIndex else { return }
      rest = rest[(text.endIndex + 1)...]
    }
  }

  /// RFC 9112 §6.1: "A sender MUST NOT apply the chunked transfer coding more than once to a message body".
  private mutating func noteCoding(_ value: UnsafeRawBufferPointer) {
    let next: Coding? =
      value.equalsIgnoringCase("chunked")
      ? .chunked : value.equalsIgnoringCase("identity") ? .identity : nil
    guard coding == nil, let next else {
      return error = .transferEncoding(Array(value.prefix(WireError.shownBytes)))
    }
    coding = next
  }
}

extension Int64 {
  /// The number that a text of digits stands for; nil if the text has anything else, is empty, or stands for more than 2^63 - 1.
  init?(decimalDigits text: Slice<UnsafeRawBufferPointer>) {
    guard !text.isEmpty else { return nil }
    var number: Int64 = 0
    for digit in text {
      guard digit.isASCIIDigit else { return nil }
      let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      let (sum, overflow) = tens.addingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
      if isTooLarge || overflow { return nil }
      number = sum
    }
    self = number
  }
}
