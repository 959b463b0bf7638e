import FormStreamMultipart
import FormStreamIntake
import FormStreamPlatform
import Testing

/// Names from clients, harmless and hostile. The expected names were derived from the rules, not from results.
@Suite struct SafeNameTests {
  private static func named(_ name: String) -> LocalPath? {
    SafeName(name).map { $0.numbered(1) }
  }

  @Test(arguments: [
    "photo.jpg", "a", "two words.txt", "it's 100 % [fine] {here} (2).tar.gz", "no-extension",
    "日本語.txt", "é.txt", "e\u{301}.txt", "👩‍👩‍👧.png", "❤️.png", "a-b_c+d,e;f=g&h@i!j#k$l^m`n.txt",
    "a..b", "COMPUTER.txt", "console.log", "com.example", "COM10.txt", "lpt.txt", "a~b", "a.-b",
    "שלום.txt", "\u{FFFD}.bin",
  ])
  func `a safe name is not changed`(_ name: String) {
    #expect(Self.named(name)?.bytes == Array(name.utf8))
  }

  @Test(arguments: [
    // Paths.
    ("../x", "x"), ("../../../../etc/passwd", "passwd"), ("/etc/passwd", "passwd"),
    ("a/b/c.txt", "c.txt"), ("dir/", "dir"), ("a//b//", "b"), ("./x", "x"), ("x/.", nil),
    ("x/..", nil), ("//", nil), ("C:\\fakepath\\a.txt", "a.txt"), ("..\\..\\boot.ini", "boot.ini"),
    ("\\\\server\\share\\a", "a"), ("a\\b/c\\d", "d"), ("\\", nil), ("C:evil.txt", "C_evil.txt"),
    ("C:", "C_"), ("file:///etc/passwd", "passwd"), ("a.txt:stream", "a.txt_stream"),
    ("a.txt::$DATA", "a.txt__$DATA"),
    // Empty names, or only dots and blanks.
    ("", nil), (" ", nil), (".", nil), ("..", nil), ("...", nil), (". .", nil), ("\u{A0}", nil),
    // Hidden names, and names that look like a flag or a home directory.
    (".htaccess", "_htaccess"), (".ssh", "_ssh"), ("..a", "_.a"), ("-rf", "_rf"),
    ("--help", "_-help"),
    ("+!touch x", "_!touch x"), ("+1", "_1"), ("a+b", "a+b"),
    ("-", "_"), ("~", "_"), ("~root", "_root"), (" -rf", "_rf"), (" .a", "_a"),
    // Endings that Windows ignores.
    ("a.", "a"), ("a...", "a"), ("a ", "a"), ("a. . ", "a"), ("a.txt\u{2003}", "a.txt"),
    (" a", "a"), ("a .txt ", "a .txt"), ("a..txt.", "a..txt"),
    // Names of devices.
    ("CON", "_CON"), ("con", "_con"), ("con.txt", "_con.txt"), ("Nul.tar.gz", "_Nul.tar.gz"),
    ("AUX.", "_AUX"), ("prn ", "_prn"), ("COM1", "_COM1"), ("com9.log", "_com9.log"),
    ("LPT0", "_LPT0"), ("lpt¹.txt", "_lpt¹.txt"), ("CON .txt", "_CON .txt"), ("dir/nul", "_nul"),
    ("CONIN$", "_CONIN$"), ("@file", "_file"),
    // Characters with a meaning on other systems.
    ("a<b>c", "a_b_c"), ("a|b", "a_b"), ("what?", "what_"), ("*.txt", "_.txt"),
    ("say \"a\"", "say _a_"),
    ("12:30", "12_30"),
    // Invisible characters, and those that change the direction of writing.
    ("a\0b", "a_b"), ("a.php\0.jpg", "a.php_.jpg"), ("a\nb", "a_b"), ("a\r\nb", "a__b"),
    ("a\tb", "a_b"), ("\u{1B}[31mred", "_[31mred"), ("a\u{7F}b", "a_b"), ("a\u{85}b", "a_b"),
    ("a\u{9B}b", "a_b"), ("gpj\u{202E}exe.txt", "gpj_exe.txt"), ("\u{2066}a\u{2069}", "_a_"),
    ("a\u{200B}b", "a_b"), ("\u{FEFF}a", "_a"), ("a\u{AD}b", "a_b"), ("a\u{2028}b", "a_b"),
    ("a\u{E0041}b", "a_b"),
  ])
  func `an unsafe name is made safe`(_ name: String, _ expected: String?) {
    #expect(Self.named(name)?.bytes == expected.map { Array($0.utf8) })
  }

  @Test func `a long name is cut and keeps its extension`() {
    let long = String(repeating: "a", count: 10_000)
    #expect(Self.named(long)?.bytes == Array(repeating: UInt8(ascii: "a"), count: 240))
    #expect(
      Self.named("\(long).jpeg")?.description == String(repeating: "a", count: 235) + ".jpeg")
    // 78 characters of three bytes are 234 bytes; one more would not fit before ".txt".
    let wide = String(repeating: "日", count: 5_000)
    #expect(Self.named("\(wide).txt")?.description == String(repeating: "日", count: 78) + ".txt")
    // Text that long is not an extension.
    #expect(
      Self.named("a.\(long)")?.description == "a." + String(repeating: "a", count: 238))
    let marks = "a" + String(repeating: "\u{301}", count: 5_000)
    #expect((Self.named(marks)?.bytes.count ?? 0) <= 240)
  }

  @Test func `a cut name does not end in blanks`() {
    let name = String(repeating: "a", count: 235) + "     b c d e f"
    #expect(Self.named(name)?.description == String(repeating: "a", count: 235))
  }

  @Test func `a number is inserted before the extension`() {
    #expect(SafeName("a.tar.gz")?.numbered(12) == "a.tar-12.gz")
    #expect(SafeName("a")?.numbered(2) == "a-2")
    let long = String(repeating: "a", count: 300) + ".txt"
    #expect((SafeName(long)?.numbered(1_000_000).bytes.count ?? .max) <= 255)
  }

  @Test(arguments: [
    ("a.txt", "f", "a.txt"), ("", "f", "f"), (nil, "f", "f"), ("..", "../f", "f"),
    (nil, nil, "file"),
    ("", ".", "file"),
  ])
  func `a file without a usable name is named after its field`(
    _ filename: String?, _ field: String?, _ expected: String
  ) {
    #expect(SafeName(filename: filename, field: field).numbered(1).description == expected)
  }

  @Test func `two encodings of the same letter are different names`() {
    #expect(SafeName("é") != SafeName("e\u{301}"))
  }

  @Test func `any name becomes one safe component`() {
    let scalars = Array(
      "a.-~ /\\:*?\"<>|\0\n\u{1B}\u{202E}\u{200B}é日👩CON1\u{301}\u{A0}%".unicodeScalars)
    var random = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      let picked = (0..<Int.random(in: 0...8, using: &random)).compactMap { _ in
        scalars.randomElement(using: &random)
      }
      let name = String(String.UnicodeScalarView(picked))
      guard let safe = Self.named(name) else { continue }
      let text = safe.description
      let last = text.unicodeScalars.last.map(String.init)
      if text.isEmpty || [".", "-", "~", "+", "@"].contains(text.first)
        || [".", " "].contains(last)
        || text.unicodeScalars.contains(where: { "/\\:*?\"<>|".unicodeScalars.contains($0) })
        || !text.unicodeScalars.allSatisfy(\.isSafeToDisplay)
      {
        Issue.record("\(name.debugDescription) became \(text.debugDescription)")
      }
      // A safe name is not changed again.
      #expect(Self.named(text) == safe, "\(name.debugDescription)")
    }
  }
}
