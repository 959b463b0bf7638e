import FormStreamJSON
import FormStreamTestSupport
import Testing

@Suite struct JSONReaderTests {
  private func parsed(_ text: String) throws -> JSONValue {
    try JSONValue(parsing: Array(text.utf8))
  }

  @Test func `each kind of value is read`() throws {
    #expect(try parsed("null") == nil)
    #expect(try parsed(" true ") == true)
    #expect(try parsed("false\n") == false)
    #expect(try parsed("-12") == -12)
    #expect(try parsed("0.25") == .millionths(250_000))
    #expect(try parsed("1e2") == .millionths(100_000_000))
    #expect(try parsed(#""a\u00e9\n""#) == "aé\n")
    #expect(try parsed("[1, [], {}]") == [1, [], [:]])
    #expect(try parsed(#"{"b":1,"a":{"c":null}}"#) == ["b": 1, "a": ["c": nil]])
  }

  @Test func `numbers that do not fit become null`() throws {
    #expect(try parsed("9223372036854775807") == .integer(.max))
    #expect(try parsed("-9223372036854775808") == .integer(.min))
    #expect(try parsed("[9223372036854775808,1e400,-1e19,1e13]") == [nil, nil, nil, nil])
  }

  @Test func `half of a surrogate pair is repaired`() throws {
    #expect(try parsed(#""\ud83d\ude00""#) == "😀")
    #expect(try parsed(#""\ud83dx\ude00\ud83d\u0041""#) == "\u{FFFD}x\u{FFFD}\u{FFFD}A")
    #expect(try parsed(#""\ud83d\ud83d\ude00""#) == "\u{FFFD}😀")
  }

  @Test func `of a key that occurs twice, the last member counts`() throws {
    let value = try parsed(#"{"a":1,"b":2,"a":3}"#)
    #expect(value["a"] == 3)
    #expect(value["c"] == nil)
    #expect(JSONValue.null["a"] == nil)
  }

  @Test(arguments: [
    "", " ", "nul", "nullx", "tru", "+1", "01", "-", "1.", ".5", "1e", "1e+", "0x1", "NaN",
    "Infinity", "[", "[1",
    "[1,", "[1,]", "[,1]", "]", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}",
    "{a:1}", "{1:1}",
    "'a'", "\"", "\"a", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\n\"", "\"\u{0}\"", "1 2",
    "[1 2]",
    "{\"a\" 1}", "[1}", "{\"a\":1]", "\u{FEFF}1", "/**/1", "\u{A0}1",
  ])
  func `malformed text is refused`(text: String) {
    #expect(throws: JSONSyntaxError.self) { try parsed(text) }
  }

  @Test func `an error names the first byte that does not fit`() {
    let error = #expect(throws: JSONSyntaxError.self) { try parsed(#"{"a":1 "b"}"#) }
    #expect(error?.description == "byte 7: expected a comma or }")
  }

  @Test func `bytes that are not UTF-8 are refused`() {
    for bytes: [UInt8] in [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80]] {
      #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: [0x22] + bytes + [0x22]) }
    }
  }

  @Test func `nesting is limited`() throws {
    let depth = JSONValue.maximumDepth
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    _ = try parsed(nested(depth))
    #expect(throws: JSONSyntaxError.self) { try parsed(nested(depth + 1)) }
    #expect(throws: JSONSyntaxError.self) { try parsed(String(repeating: "[", count: 1_000_000)) }
  }

  @Test func `what is written is read, and no prefix of it`() throws {
    let value: JSONValue = [
      "z": [.integer(.min), .millionths(-1), .millionths(.max), true, nil],
      "\u{0}\"\\": ["é😀\u{202E}", ""],
      "a": ["": [:], "b": []],
    ]
    let bytes = value.line()
    // A fraction of 64 bits goes through a Double on its way.
    let read = try JSONValue(parsing: bytes)
    #expect(read["\u{0}\"\\"] == value["\u{0}\"\\"])
    #expect(read["a"] == value["a"])
    #expect(read["z"]?.elements?.first == .integer(.min))
    for end in 0..<bytes.count - 1 {
      #expect(throws: JSONSyntaxError.self) { try JSONValue(parsing: Array(bytes[..<end])) }
    }
  }

  @Test func `Python accepts what is accepted, of changed bytes`() throws {
    var generator = SystemRandomNumberGenerator()
    let seed = Array(
      #"{"a":[1,-2.5e3,true,null,"\u00e9\ud83d\ude00\n"],"path":"b/c","x":{"y":[]}}"#.utf8)
    let alphabet = Array("{}[]\",:\\u0123456789eE+-.truefalsn \t".utf8)
    var lines: [UInt8] = []
    var expected: [String] = []
    for _ in 0..<4000 {
      var bytes = seed
      for _ in 0..<Int.random(in: 1...2, using: &generator) {
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] =
          alphabet.randomElement(using: &generator) ?? 0x20
      }
      expected.append((try? JSONValue(parsing: bytes)) == nil ? "no" : "yes")
      lines += bytes + [0x0A]
    }
    let read = try python(
      """
      import json, sys
      def refuse(_): raise ValueError
      for line in sys.stdin.buffer.read().split(b"\\n")[:-1]:
        try:
          json.loads(line.decode("utf-8"), parse_constant=refuse)
          print("yes")
        except ValueError:
          print("no")
      """, lines)
    #expect(read == expected)
  }
}
