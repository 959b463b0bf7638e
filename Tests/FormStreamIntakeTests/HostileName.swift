import Testing

/// A file name that a client may send, and the names that it must be stored under: as one component, and with
/// directories kept. The part's field is named `field`, which is used if nothing of the file name is left.
struct HostileName: Sendable, CustomTestStringConvertible {
  let sent: String
  let flat: String
  let kept: String

  init(_ sent: String, _ flat: String, _ kept: String? = nil) {
    self.sent = sent
    self.flat = flat
    self.kept = kept ?? flat
  }

  var testDescription: String { String(sent.prefix(60)).debugDescription }

  /// The expected names were derived from the rules, not from results.
  static let all: [HostileName] =
    upwards + absolute + cutShort + fromWindows + devices + unseen + long + twins + edges
    + leading + encoded + lookalikes + repaired + ours + joined + forShells

  private static let upwards = [
    HostileName("../x", "x"),
    HostileName("../../../../etc/passwd", "passwd", "etc/passwd"),
    HostileName("a/../../b", "b", "a/b"),
    HostileName("a/..", "field", "a"),
    HostileName("../", "field"),
    HostileName("./a/./b", "b", "a/b"),
    HostileName("....//x", "x"),
    HostileName(".. /x", "x"),
    HostileName("..;/x", "x", "_.;/x"),
    HostileName("a//b///c", "c", "a/b/c"),
    HostileName(String(repeating: "../", count: 5_000) + "x", "x"),
  ]
  private static let absolute = [
    HostileName("/etc/formstream-x", "formstream-x", "etc/formstream-x"),
    HostileName("//server/share/x", "x", "server/share/x"),
    HostileName("/../x", "x"),
    HostileName("/", "field"),
    HostileName("/proc/self/cwd/x", "x", "proc/self/cwd/x"),
    HostileName("file:///etc/x", "x", "file_/etc/x"),
  ]
  /// Names with a NUL, which ends a name in C.
  private static let cutShort = [
    HostileName("\0", "_"),
    HostileName("a\0b", "a_b"),
    HostileName("a.php\0.jpg", "a.php_.jpg"),
    HostileName("../\0../x", "x", "_/x"),
    HostileName("x\0/../y", "y", "x_/y"),
  ]
  private static let fromWindows = [
    HostileName("..\\..\\x", "x"),
    HostileName("a\\b.txt", "b.txt", "a/b.txt"),
    HostileName("a\\../b", "b", "a/b"),
    HostileName("\\", "field"),
    HostileName("\\\\server\\c$\\x", "x", "server/c$/x"),
    HostileName("C:\\Windows\\x.ini", "x.ini", "C_/Windows/x.ini"),
    HostileName("C:x", "C_x"),
    HostileName("\\\\?\\C:\\x", "x", "_/C_/x"),
    HostileName("\\\\.\\PhysicalDrive0", "PhysicalDrive0"),
    HostileName("x.txt::$DATA", "x.txt__$DATA"),
  ]
  private static let devices = [
    HostileName("CON", "_CON"),
    HostileName("nul.txt", "_nul.txt"),
    HostileName("COM1", "_COM1"),
    HostileName("lpt9.tar.gz", "_lpt9.tar.gz"),
    HostileName("COM¹.txt", "_COM¹.txt"),
    HostileName("CON .txt", "_CON .txt"),
    HostileName("aux/x", "x", "_aux/x"),
    HostileName("prn/nul", "_nul", "_prn/_nul"),
    HostileName("console.txt", "console.txt"),
  ]
  /// Control characters, and characters that change the direction of writing.
  private static let unseen = [
    HostileName("a\nb", "a_b"),
    HostileName("a\r\nb", "a__b"),
    HostileName("\u{1B}]0;x\u{7}", "_]0;x_"),
    HostileName("a\u{7F}", "a_"),
    HostileName("a\u{9B}31m", "a_31m"),
    HostileName("\u{202E}gpj.exe", "_gpj.exe"),
    HostileName("a\u{2066}/b\u{2069}", "b_", "a_/b_"),
    HostileName("\u{2028}/x", "x", "_/x"),
  ]
  private static let long = [
    HostileName(String(repeating: "a", count: 10_000), String(repeating: "a", count: 240)),
    HostileName(
      String(repeating: "a", count: 10_000) + ".txt", String(repeating: "a", count: 236) + ".txt"),
    // A character of three bytes is not split.
    HostileName(
      "a" + String(repeating: "日", count: 10_000), "a" + String(repeating: "日", count: 79)),
    // The 32 innermost directories.
    HostileName(
      "first/" + String(repeating: "a/", count: 32) + "x", "x",
      String(repeating: "a/", count: 32) + "x"),
    HostileName(
      String(repeating: "a/", count: 5_000) + "x", "x", String(repeating: "a/", count: 32) + "x"),
    // Eight directories of 241 bytes and the two bytes of "/x" are 1,930; a ninth would exceed 2,048.
    HostileName(
      String(repeating: String(repeating: "d", count: 300) + "/", count: 30) + "x", "x",
      String(repeating: String(repeating: "d", count: 240) + "/", count: 8) + "x"),
  ]
  /// One letter in two encodings.
  private static let twins = [
    HostileName("\u{E9}.txt", "\u{E9}.txt"),
    HostileName("e\u{301}.txt", "e\u{301}.txt"),
    HostileName("\u{E9}/e\u{301}", "e\u{301}", "\u{E9}/e\u{301}"),
    HostileName("\u{212A}", "\u{212A}"),
  ]
  /// Empty names, blanks, and dots and blanks at the ends.
  private static let edges = [
    HostileName("", "field"),
    HostileName("   ", "field"),
    HostileName(".", "field"),
    HostileName("..", "field"),
    HostileName("...", "field"),
    HostileName("././.", "field"),
    HostileName("//\\//", "field"),
    HostileName("\u{A0}", "field"),
    HostileName("a.", "a"),
    HostileName("a...   ", "a"),
    HostileName("a. /b.", "b", "a/b"),
    HostileName(" a", "a"),
    HostileName("a\u{3000}", "a"),
  ]
  private static let leading = [
    HostileName("-rf", "_rf"),
    HostileName("--/x", "x", "_-/x"),
    HostileName(".bashrc", "_bashrc"),
    HostileName(".ssh/authorized_keys", "authorized_keys", "_ssh/authorized_keys"),
    HostileName(".git/hooks/pre-commit", "pre-commit", "_git/hooks/pre-commit"),
    HostileName("~", "_"),
    HostileName("~root/x", "x", "_root/x"),
    HostileName("+x", "_x"),
    HostileName("@x", "_x"),
  ]
  /// Names are not percent-decoded a second time.
  private static let encoded = [
    HostileName("%2e%2e%2fx", "%2e%2e%2fx"),
    HostileName("..%2f..%2fx", "_.%2f..%2fx"),
    HostileName("%252e%252e%252fx", "%252e%252e%252fx"),
    HostileName("%00", "%00"),
    HostileName("..%c0%afx", "_.%c0%afx"),
  ]
  private static let lookalikes = [
    HostileName("..\u{2215}..\u{2215}x", "_.\u{2215}..\u{2215}x"),
    HostileName("..\u{FF0F}x", "_.\u{FF0F}x"),
    HostileName("\u{2044}etc\u{2044}x", "\u{2044}etc\u{2044}x"),
    HostileName("..\u{FF3C}x", "_.\u{FF3C}x"),
    HostileName("\u{FF0E}\u{FF0E}/x", "x", "\u{FF0E}\u{FF0E}/x"),
    HostileName("\u{2024}\u{2024}/x", "x", "\u{2024}\u{2024}/x"),
  ]
  /// Bytes that are not UTF-8, replaced by U+FFFD: a lone byte, an overlong slash, half a surrogate pair.
  private static let repaired = [
    HostileName(String(decoding: [0x61, 0xFF, 0x62], as: UTF8.self), "a\u{FFFD}b"),
    HostileName(
      String(decoding: [0x2E, 0x2E, 0xC0, 0xAF, 0x78], as: UTF8.self), "_.\u{FFFD}\u{FFFD}x"),
    HostileName(
      String(decoding: [0xED, 0xA0, 0x80], as: UTF8.self), "\u{FFFD}\u{FFFD}\u{FFFD}"),
  ]
  /// Names that look like our temporary names.
  private static let ours = [
    HostileName(".formstream-1y2p0ij32e8e7", "_formstream-1y2p0ij32e8e7"),
    HostileName(".formstream-x/y", "y", "_formstream-x/y"),
  ]
  /// Characters of several scalars, and joiners.
  private static let joined = [
    HostileName("👩‍👩‍👧.png", "👩‍👩‍👧.png"),
    HostileName("🏳️‍🌈/❤️.png", "❤️.png", "🏳️‍🌈/❤️.png"),
    HostileName("a\u{200D}b", "a\u{200D}b"),
    HostileName("..\u{200D}/x", "x", "_.\u{200D}/x"),
    HostileName("a\u{200B}b", "a_b"),
    HostileName("\u{FEFF}x", "_x"),
  ]
  private static let forShells = [
    HostileName("$(touch x)", "$(touch x)"),
    HostileName("`x`;rm -rf *", "`x`;rm -rf _"),
    HostileName("a|b>c", "a_b_c"),
  ]
}
