import FormStreamCommand
import Testing
import FormStreamTestSupport

@Suite struct TextWidthTests {
  @Test(arguments: [
    ("", 0), ("photo", 5), ("é", 1), ("e\u{301}", 1), ("写真", 4), ("ｶﾅ", 2), ("한글", 4),
    ("🌅", 2), ("\u{2764}\u{FE0F}", 2), ("…", 1),
  ])
  func `columns are counted as in terminals`(_ text: String, _ width: Int) {
    #expect(columns(of: text) == width)
  }

  @Test(arguments: [
    ("photo", 5, "photo"), ("photos", 5, "phot…"), ("photo", 1, "…"), ("photo", 0, ""),
    ("photo", -1, ""), ("写真集", 6, "写真集"), ("写真集", 5, "写真…"), ("写真集", 4, "写…"),
    ("a\u{1B}[2J", 20, "a\\u{1B}[2J"), ("a\u{202E}b", 20, "a\\u{202E}b"),
    ("a\rb\n", 14, "a\\u{D}b\\u{A}"),
    ("", 5, ""),
  ])
  func `text is made safe and cut to a number of columns`(
    _ text: String, _ limit: Int, _ result: String
  ) {
    #expect(visible(text, upTo: limit) == result)
  }

  @Test(arguments: [
    ("photo", 5, "photo"), ("photos", 5, "…otos"), ("photo", 1, "…"), ("photo", 0, ""),
    ("photo", -1, ""), ("写真集", 6, "写真集"), ("写真集", 5, "…真集"), ("写真集", 4, "…集"),
    ("\u{1B}[2Ja", 20, "\\u{1B}[2Ja"), ("a\u{202E}b", 5, "…2E}b"), ("", 5, ""),
  ])
  func `the end of some text is made safe and cut to a number of columns`(
    _ text: String, _ limit: Int, _ result: String
  ) {
    #expect(visible(endOf: text, upTo: limit) == result)
  }

  /// One character on the screen may be a megabyte of text.
  @Test func `a letter with many accents is cut too`() {
    let heap = "a" + String(repeating: "\u{301}", count: 100_000)
    #expect(visible(heap, upTo: 10).unicodeScalars.count <= 41)
    #expect(visible(endOf: heap, upTo: 10).unicodeScalars.count <= 41)
  }

  /// Python has the tables of UAX #11.
  @Test func `no wide character counts as a narrow one`() throws {
    let program = """
      import sys, unicodedata
      for value in range(0x80, 0x110000):
        if 0xD800 <= value < 0xE000 or unicodedata.category(chr(value)) in ("Mn", "Me", "Cf", "Cn"): continue
        if unicodedata.east_asian_width(chr(value)) in "WF": print(value)
      """
    let run = try run(program: "/usr/bin/env", ["python3", "-c", program])
    #expect(run.exit == 0)
    let wide = run.output.split(separator: "\n").compactMap {
      UInt32($0).flatMap(Unicode.Scalar.init)
    }
    #expect(wide.count > 100_000)
    let narrow = wide.filter { columns(of: String($0)) < 2 }
    #expect(narrow.isEmpty, "\(narrow.prefix(20).map { String($0.value, radix: 16) })")
  }
}
