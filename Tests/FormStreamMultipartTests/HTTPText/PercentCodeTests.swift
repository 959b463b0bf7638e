import FormStreamMultipart
import Testing

@Suite struct PercentEncodingTests {
  /// The marks of ASCII: each encoding keeps some of them.
  private static let marks = " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

  private static let all: [(encoding: PercentEncoding, text: String)] = [
    (
      .unreserved,
      "%20%21%22%23%24%25%26%27%28%29%2A%2B%2C-.%2F%3A%3B%3C%3D%3E%3F%40%5B%5C%5D%5E_%60%7B%7C%7D~"
    ),
    (
      .unreservedWithPlus,
      "+%21%22%23%24%25%26%27%28%29%2A%2B%2C-.%2F%3A%3B%3C%3D%3E%3F%40%5B%5C%5D%5E_%60%7B%7C%7D~"
    ),
    (
      .formURLEncoded,
      "+%21%22%23%24%25%26%27%28%29*%2B%2C-.%2F%3A%3B%3C%3D%3E%3F%40%5B%5C%5D%5E_%60%7B%7C%7D%7E"
    ),
    (
      .pathSegment,
      "%20!%22%23$%25&'()*+,-.%2F:;%3C=%3E%3F@%5B%5C%5D%5E_%60%7B%7C%7D~"
    ),
    (
      .attributeValue,
      "%20!%22#$%25&%27%28%29%2A+%2C-.%2F%3A%3B%3C%3D%3E%3F%40%5B%5C%5D^_`%7B|%7D~"
    ),
  ]

  @Test(arguments: 0..<5)
  func `each encoding leaves the marks as they are that its specification names`(_ index: Int) {
    #expect(Self.all[index].encoding.encoded(Self.marks.utf8) == Self.all[index].text)
  }

  @Test(arguments: 0..<5)
  func `letters and digits stay, and control characters and UTF-8 are encoded`(
    _ index: Int
  ) {
    let encoding = Self.all[index].encoding
    let letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    #expect(encoding.encoded(letters.utf8) == letters)
    #expect(encoding.encoded([0x00, 0x0A, 0x1F, 0x7F, 0x80, 0xFF]) == "%00%0A%1F%7F%80%FF")
    #expect(encoding.encoded("é".utf8) == "%C3%A9")
    #expect(encoding.encoded([]) == "")
  }
}

@Suite struct PercentDecoderTests {
  /// A text, and how it is read: leniently, strictly, and if only quotes and line breaks are
  /// decoded.
  struct Case: Sendable {
    let text: String
    let decoded: String
    let strict: String?
    let quotes: String

    init(_ text: String, _ decoded: String, strict: String?, quotes: String) {
      self.text = text
      self.decoded = decoded
      self.strict = strict
      self.quotes = quotes
    }
  }

  static let cases = [
    Case("", "", strict: "", quotes: ""),
    Case("plain+text", "plain+text", strict: "plain+text", quotes: "plain+text"),
    Case("%41%7a%7A", "Azz", strict: "Azz", quotes: "%41%7a%7A"),
    Case("%22%0d%0A", "\"\r\n", strict: "\"\r\n", quotes: "\"\r\n"),
    Case("%C3%A9", "é", strict: "é", quotes: "%C3%A9"),
    Case("%00", "\0", strict: "\0", quotes: "%00"),
    Case("%2541", "%41", strict: "%41", quotes: "%2541"),
    Case("100%", "100%", strict: nil, quotes: "100%"),
    Case("%4", "%4", strict: nil, quotes: "%4"),
    Case("%4g", "%4g", strict: nil, quotes: "%4g"),
    Case("%g4", "%g4", strict: nil, quotes: "%g4"),
    Case("%%22", "%\"", strict: nil, quotes: "%\""),
    Case("%2%22", "%2\"", strict: nil, quotes: "%2\""),
    Case("% 41", "% 41", strict: nil, quotes: "% 41"),
    Case("%u0041", "%u0041", strict: nil, quotes: "%u0041"),
  ]

  @Test(arguments: cases) func `percent codes are decoded, and all other text stays`(
    _ example: Case
  ) {
    let bytes = Array(example.text.utf8)
    #expect(PercentDecoder.decoded(bytes) == Array(example.decoded.utf8))
    #expect(PercentDecoder.decoded(bytes, .quotesAndLineBreaks) == Array(example.quotes.utf8))
    #expect(PercentDecoder.strictlyDecoded(bytes) == example.strict.map { Array($0.utf8) })
  }

  @Test func `a percent code that arrives in pieces is decoded when it is complete`() {
    var decoder = PercentDecoder()
    var result: [UInt8] = []
    decoder.append(UInt8(ascii: "%"), to: &result)
    decoder.append(UInt8(ascii: "4"), to: &result)
    #expect(result.isEmpty)
    decoder.append(UInt8(ascii: "1"), to: &result)
    #expect(result == Array("A".utf8))
    decoder.append(UInt8(ascii: "%"), to: &result)
    decoder.finish(to: &result)
    #expect(result == Array("A%".utf8))
  }

  @Test func `a plus is a space only in URL-encoded fields, and an encoded plus is a plus`() {
    var decoder = PercentDecoder(readsPlusAsSpace: true)
    var result: [UInt8] = []
    for byte in "a+b%2Bc%+".utf8 { decoder.append(byte, to: &result) }
    decoder.finish(to: &result)
    #expect(result == Array("a b+c% ".utf8))
    #expect(PercentDecoder.decoded("a+b".utf8) == Array("a+b".utf8))
  }
}
