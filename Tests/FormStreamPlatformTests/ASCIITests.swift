import FormStreamPlatform
import Testing

@Suite struct ASCIITests {
  @Test(arguments: 0...255 as ClosedRange<Int>)
  func `only the characters 0 to 9 are digits, and only ASCII letters have a lower case`(
    _ value: Int
  ) {
    let byte = UInt8(value)
    let isDigit = Array("0123456789".utf8).contains(byte)
    let upper = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
    let lower = Array("abcdefghijklmnopqrstuvwxyz".utf8)
    #expect(byte.isASCIIDigit == isDigit)
    #expect(
      byte.isASCIILetterOrDigit == (isDigit || upper.contains(byte) || lower.contains(byte)))
    let index = upper.firstIndex(of: byte)
    #expect(byte.asciiLowercased == index.map { lower[$0] } ?? byte)
  }

  @Test(arguments: [
    ("0", true), ("0123456789", true), ("", false), ("+1", false), ("-1", false), ("1 ", false),
    ("1.0", false), ("0x10", false), ("٣", false), ("１", false),
  ])
  func `a number is ASCII digits, without a sign`(_ text: String, _ isNumber: Bool) {
    #expect(text.isASCIIDigits == isNumber)
  }
}

@Suite struct HexadecimalTests {
  @Test func `each value from 0 to 15 has a digit in lower case and in upper case`() {
    #expect((0..<16).map { Hexadecimal.digit($0) } == Array("0123456789abcdef".utf8))
    #expect(
      (0..<16).map { Hexadecimal.digit($0, uppercase: true) } == Array("0123456789ABCDEF".utf8))
    #expect(Hexadecimal.digit(0xF3A) == UInt8(ascii: "a"))
  }

  @Test func `digits of both cases are read, and all other bytes are refused`() {
    let values = (UInt8.min...UInt8.max).filter { Hexadecimal.value(of: $0) != nil }
    #expect(values == Array("0123456789ABCDEFabcdef".utf8))
    #expect("09afAF".utf8.map(Hexadecimal.value) == [0, 9, 10, 15, 10, 15])
  }
}
