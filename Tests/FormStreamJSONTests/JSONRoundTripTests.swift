import FormStreamJSON
import FormStreamTestSupport
import Testing

/// Python's json module reads the written lines. Scalars are compared as numbers, because Swift strings in
/// different normal forms are equal.
@Suite struct JSONRoundTripTests {
  /// Decodes strictly, and prints each string's scalars.
  private static let scalars = """
    import json, sys
    for line in sys.stdin.buffer.read().split(b"\\n")[:-1]:
      print(*map(ord, json.loads(line.decode("utf-8"))))
    """

  private func expectRoundTrip(_ texts: [String]) throws {
    let read = try python(Self.scalars, texts.flatMap { JSONValue.string($0).line() })
    try #require(read.count == texts.count)
    for (text, scalars) in zip(texts, read) {
      let expected = text.unicodeScalars.map { String($0.value) }.joined(separator: " ")
      #expect(scalars == expected, "\(text.debugDescription)")
    }
  }

  @Test func `Python reads each scalar below 0x300, alone and between others`() throws {
    let scalars = (UInt32(0)..<0x300).compactMap(Unicode.Scalar.init)
    try expectRoundTrip(scalars.flatMap { ["\($0)", "a\($0)b", "\($0)\($0)", "é\($0)\"\($0)\\"] })
  }

  @Test func `Python reads every Unicode scalar`() throws {
    var texts: [String] = []
    for start in stride(from: UInt32(0), through: 0x10FFFF, by: 0x400) {
      var text = String.UnicodeScalarView()
      for value in start..<start + 0x400 {
        if let scalar = Unicode.Scalar(value) { text.append(scalar) }
      }
      texts.append(String(text))
    }
    try expectRoundTrip(texts)
  }

  @Test func `Python reads quotes, backslashes and text that looks like an escape`() throws {
    let pieces = ["\"", "\\", "'", "/", "u0041", "n", "\u{1F}", "é", "😀", "\u{202E}", "\u{E0041}"]
    var texts = ["", #"\"#, #"\\"#, #""\""#, "\"", #"\ud83d"#, "</script>", "{\"a\":[1]}"]
    for first in pieces {
      for second in pieces {
        for third in pieces { texts.append(first + second + third) }
      }
    }
    try expectRoundTrip(texts)
  }

  @Test(arguments: [0, 1, 63, 64, 65, 4095, 4096, 4097, 65_536])
  func `Python reads long texts that begin and end with an escape`(length: Int) throws {
    let plain = String(decoding: noise(length), as: UTF8.self)
    try expectRoundTrip(["\u{1B}\(plain)", "\(plain)\u{1B}", "\u{1B}\(plain)😀\(plain)\u{7F}"])
  }

  @Test func `Python reads fractions of each size to the last digit`() throws {
    var numbers: [Int64] = [.min, .min + 1, .max - 1, .max, 0]
    var power: Int64 = 1
    for _ in 0..<18 {
      numbers += [power - 1, power, power + 1, -power, 7 * (power / 10)]
      power *= 10
    }
    let read = try python(
      """
      import decimal, json, sys
      for line in sys.stdin.buffer:
        number = json.loads(line, parse_float=decimal.Decimal)
        print((number * 1000000).to_integral_exact())
      """, numbers.flatMap { JSONValue.millionths($0).line() })
    #expect(read == numbers.map(String.init))
  }

  @Test func `Python reads the keys in order, and each kind of value`() throws {
    let value: JSONValue = [
      "z": [.integer(.min), .integer(.max), true, false, nil], "a": ["": [:], "\u{0}": []],
      "\u{202E}": "x",
    ]
    let read = try python(
      """
      import json, sys
      print(ascii(json.loads(sys.stdin.buffer.read(), object_pairs_hook=lambda pairs: pairs)))
      """, value.line())
    #expect(
      read == [
        #"[('z', [-9223372036854775808, 9223372036854775807, True, False, None]), "#
          + #"('a', [('', []), ('\x00', [])]), ('\u202e', 'x')]"#
      ])
  }
}
