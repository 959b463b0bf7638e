import FormStreamTestSupport

/// Texts with the form of URLs and of references, with what is odd about them.
enum GeneratedURL {
  static func url(_ random: inout SeededSequence) -> String {
    // Every third has nothing odd before its path.
    if Int.random(in: 0..<3, using: &random) == 0 {
      return pick(["http://", "https://", "HTTP://"], &random) + plainHost(&random) + pick(["", ":8080", ":443"], &random)
        + target(&random)
    }
    return pick(
      [
        "http://", "http://", "http://", "https://", "hTTp://", "http:/", "http:///", "http:////", "http:", "ftp://", "", "//",
        "ht_tp://",
      ],
      &random) + authority(&random) + target(&random)
  }

  static func reference(_ random: inout SeededSequence) -> String {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: url(&random)
    case 1: pick(["//", "///", "////", "/\\", "\\\\"], &random) + authority(&random) + target(&random)
    case 2: "?" + word(&random)
    case 3: "/" + path(&random)
    default: path(&random) + pick(["", "", "?a=b", "?", "#f", "?a#f"], &random)
    }
  }

  static func numbers(_ random: inout SeededSequence) -> String {
    let count = Int.random(in: 1...5, using: &random)
    let labels = (0..<count).map { _ in
      let number = pick([0, 1, 127, 255, 256, 65535, 65536, 16_777_215, 16_777_216, 4_294_967_295, 4_294_967_296], &random)
      return pick(
        [
          "\(number)", "\(number)", "0x" + String(number, radix: 16), "0X" + String(number, radix: 16, uppercase: true),
          "0" + String(number, radix: 8), "00" + String(number, radix: 8), "08", "0x", "", "+1", "-1", "a", "0xg", "1a",
        ], &random)
    }
    return labels.joined(separator: ".")
  }

  private static func authority(_ random: inout SeededSequence) -> String {
    pick(
      [
        "", "", "", "", "u@", "u:p@", ":@", "@", "u:@", "a@b@", "u%40:p%3A@", "u\\@", "ü:p@", "u v@", "u:%00@", "u%FF@",
        "u:p:q@", "u;v@",
      ],
      &random)
      + host(&random)
      + pick(
        [
          "", "", "", ":", ":80", ":443", ":8080", ":0", ":00080", ":65535", ":65536", ":x", ":+1", ":1:2",
          ":99999999999999999999",
        ], &random)
  }

  private static func plainHost(_ random: inout SeededSequence) -> String {
    pick(
      ["h.example", "H.Example", "127.0.0.1", "[::1]", "[2001:DB8:0:0::1]", "bücher.example", "localhost", "a-b_c.d"], &random)
  }

  private static func host(_ random: inout SeededSequence) -> String {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: numbers(&random)
    case 1: ipv6(&random)
    case 2: plainHost(&random)
    case 3:
      pick(
        [
          "", ".", "h.", "h..", ".h", "a..b", "%68.example", "h%2e.example", "h%00", "h%2f", "h%", "h%2", "h%zz", "h%25", "a|b",
          "h%7f",
          "xn--a", "a℀b", "h／a", "b%FC", "☃", "①.2", "h。example", "\u{AD}", "a\u{200D}b", "ß.example", "%31%32%37.1", "１.２",
        ], &random)
    default: word(&random)
    }
  }

  private static func ipv6(_ random: inout SeededSequence) -> String {
    let groups = (0..<Int.random(in: 1...9, using: &random)).map { _ in
      pick(["0", "0", "1", "", "ffff", "FFFF", "0001", "12345", "g", "127.0.0.1"], &random)
    }
    let address = pick(["::", "", "fe80::"], &random) + groups.joined(separator: ":")
    return "[" + address
      + pick(
        [
          "", "", "", "%25eth0", "%eth0", "%25", "%", "%2525", "%25a%41", "%25a b", "%25abcdefghijklmno", "%25abcdefghijklmnop",
        ], &random)
      + pick(["]", "]", "]", "]", "", "]]", "]a"], &random)
  }

  private static func target(_ random: inout SeededSequence) -> String {
    pick(["", "/", "/", "/", "?"], &random) + path(&random)
      + pick(["", "", "?", "?a=b", "?a b", "?ä", "?a?b", "?../c", "?a#b", "#", "#a?b", "# c"], &random)
  }

  private static func path(_ random: inout SeededSequence) -> String {
    (0..<Int.random(in: 0...5, using: &random)).map { _ in
      pick(
        [".", "..", "...", "", "a", "b", ".a", "a.", "..a", "%2e", "%2E%2e", ".%2e", "a b", "ä", "a\\b", "a:b", word(&random)],
        &random)
    }.joined(separator: "/")
  }

  /// A short text of characters that mean something in URLs, and others.
  private static func word(_ random: inout SeededSequence) -> String {
    let characters = Array("aaaabbbccZ019.-_~%:@[]!$&'()*+,;=\"<>^`{|} \\äß")
    return String((0..<Int.random(in: 1...6, using: &random)).map { _ in pick(characters, &random) })
  }

  private static func pick<Value>(_ values: [Value], _ random: inout SeededSequence) -> Value {
    values[Int.random(in: 0..<values.count, using: &random)]
  }
}
