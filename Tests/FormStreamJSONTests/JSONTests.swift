import FormStreamJSON
import Testing

/// Compares the writer's output with lines written by hand. `JSONRoundTripTests` has another program read it.
@Suite struct JSONTests {
  @Test(
    arguments: [
      (nil, "null"), (true, "true"), (false, "false"), (0, "0"), (-1, "-1"), ("", #""""#),
      (.integer(.max), "9223372036854775807"), (.integer(.min), "-9223372036854775808"),
      ([], "[]"), (.object([]), "{}"), ([:], "{}"), ([1], "[1]"),
      ([nil, true, -7, "x", [[]], [:]], #"[null,true,-7,"x",[[]],{}]"#),
      (["a": ["b": ["c": [1, 2]]], "d": nil], #"{"a":{"b":{"c":[1,2]}},"d":null}"#),
    ] as [(JSONValue, String)])
  func `each kind of value has its JSON`(value: JSONValue, json: String) {
    #expect(value.description == json)
  }

  @Test(
    arguments: [
      (0, "0.0"), (1, "0.000001"), (-1, "-0.000001"), (10, "0.00001"), (100_000, "0.1"),
      (250_000, "0.25"), (999_999, "0.999999"), (1_000_000, "1.0"), (-1_000_000, "-1.0"),
      (1_000_001, "1.000001"), (10_000_000, "10.0"), (12_345_678, "12.345678"),
      (3_600_050_000, "3600.05"), (-7_500_000, "-7.5"), (.max, "9223372036854.775807"),
      (.min, "-9223372036854.775808"),
    ] as [(Int64, String)])
  func `a fraction has one to six digits after the point`(millionths: Int64, json: String) {
    #expect(JSONValue.millionths(millionths).description == json)
  }

  @Test(
    arguments: [
      (0, "0.0"), (-0.0, "0.0"), (0.1, "0.1"), (0.3, "0.3"), (1.5, "1.5"), (2, "2.0"),
      (-0.25, "-0.25"), (1e-6, "0.000001"), (4.9e-7, "0.0"), (5e-7, "0.000001"),
      (-4.9e-7, "0.0"), (.leastNonzeroMagnitude, "0.0"), (0.9999999, "1.0"), (1e9, "1000000000.0"),
      (9e12, "9000000000000.0"), (1e13, "null"), (-1e13, "null"), (1e308, "null"),
      (.nan, "null"), (.signalingNaN, "null"), (.infinity, "null"), (-.infinity, "null"),
      (nil, "null"),
    ] as [(Double?, String)])
  func `seconds are rounded to microseconds, and are null if they are not finite`(
    number: Double?, json: String
  ) {
    #expect(JSONValue.fraction(rounding: number).description == json)
  }

  @Test(
    arguments: [
      (0, "0"), (-0.0, "0"), (0.49, "0"), (0.5, "1"), (-0.4, "0"), (1.5, "2"),
      (1e15, "1000000000000000"), (-1e15, "-1000000000000000"), (9e18, "9000000000000000000"),
      (1e19, "null"), (-1e19, "null"), (1e308, "null"), (.nan, "null"), (.infinity, "null"),
      (-.infinity, "null"), (nil, "null"),
    ] as [(Double?, String)])
  func `rates are rounded to bytes, and are null if they are not finite`(
    number: Double?, json: String
  ) {
    #expect(JSONValue.integer(rounding: number).description == json)
  }

  @Test func `keys keep their order, and are escaped like other text`() {
    let value: JSONValue = ["b": 1, "a": 2, "": 3, "b": 4, "\"\n": 5]
    #expect(value.description == #"{"b":1,"a":2,"":3,"b":4,"\"\n":5}"#)
  }

  @Test func `a record is one line, whatever its text contains`() {
    let value: JSONValue = ["k": "a\r\nb\u{85}c\u{2028}d\u{2029}e\u{0B}f\u{0C}"]
    let json = #"{"k":"a\r\nb\u0085c\u2028d\u2029e\u000bf\f"}"# + "\n"
    #expect(value.line() == Array(json.utf8))
  }

  @Test func `writing a value appends to the bytes`() {
    var bytes = Array("before ".utf8)
    JSONValue.array([1, "é"]).write(to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == #"before [1,"é"]"#)
  }

  /// RFC 8259 §7.
  @Test(arguments: [
    ("\"", #"\""#), ("\\", #"\\"#), ("/", "/"), ("'", "'"), ("\u{8}", #"\b"#), ("\t", #"\t"#),
    ("\n", #"\n"#), ("\u{C}", #"\f"#), ("\r", #"\r"#), ("\r\n", #"\r\n"#), ("\0", #"\u0000"#),
    ("\u{7}", #"\u0007"#), ("\u{B}", #"\u000b"#), ("\u{1B}[31m", #"\u001b[31m"#),
    ("\u{1F}", #"\u001f"#), (" ", " "), (#"\n"#, #"\\n"#), (#"\u0041"#, #"\\u0041"#),
    ("\"\"\\\\", #"\"\"\\\\"#), ("a\"", #"a\""#), ("\"a", #"\"a"#),
  ])
  func `characters that JSON reserves are escaped`(text: String, escaped: String) {
    #expect(Array(JSONValue.string(text).description.utf8) == Array("\"\(escaped)\"".utf8))
  }

  @Test(arguments: [
    ("\u{7F}", #"\u007f"#), ("\u{80}", #"\u0080"#), ("\u{9B}31m", #"\u009b31m"#),
    ("\u{9F}", #"\u009f"#), ("a\u{AD}b", #"a\u00adb"#), ("\u{34F}", #"\u034f"#),
    ("\u{61C}", #"\u061c"#), ("\u{200B}", #"\u200b"#), ("\u{200E}\u{200F}", #"\u200e\u200f"#),
    ("x\u{202E}gpj.exe", #"x\u202egpj.exe"#), ("\u{2066}\u{2069}", #"\u2066\u2069"#),
    ("\u{FEFF}", #"\ufeff"#), ("\u{E0041}", #"\udb40\udc41"#), ("\u{1D173}", #"\ud834\udd73"#),
  ])
  func `characters that move a cursor, turn the writing direction or hide are escaped`(
    text: String, escaped: String
  ) {
    #expect(Array(JSONValue.string(text).description.utf8) == Array("\"\(escaped)\"".utf8))
  }

  /// Compared as bytes, because Swift strings in different normal forms are equal.
  @Test(arguments: [
    "é", "e\u{301}", "\u{A0}", "日本語", "\u{FFFD}", "\u{FFFF}", "😀", "\u{10FFFF}", "ä\u{308}ö",
    "👩\u{200D}👩\u{200D}👧", "❤\u{FE0F}", "ن\u{200C}ا", "葛\u{E0100}", "שלום",
  ])
  func `all other text is unchanged`(text: String) {
    #expect(Array(JSONValue.string(text).description.utf8) == Array("\"\(text)\"".utf8))
  }

  /// The list is written by hand, and does not use the Unicode properties that the writer uses.
  @Test func `no control character for terminals is written unescaped`() {
    let obeyed: [ClosedRange<UInt32>] = [
      0...0x1F, 0x7F...0x9F, 0x61C...0x61C, 0x200B...0x200B, 0x200E...0x200F, 0x2028...0x202E,
      0x2060...0x206F, 0xFEFF...0xFEFF, 0xFFF9...0xFFFB, 0xE0001...0xE007F,
    ]
    for scalar in obeyed.joined().compactMap(Unicode.Scalar.init) {
      let json = JSONValue.string("a\(scalar)b").description
      #expect(json.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "\(json)")
      #expect(json.utf8.count > 5, "\(json)")
    }
  }
}
