import FormStreamTestSupport
import Foundation
import Testing

@testable import FormStreamHTTP

/// The URLs that are sent are those of libcurl 7.88, but for the rows of docs/urls.md.
@Suite(.enabled(if: InstalledCurl.is788)) struct URLComparisonTests {
  private static let bases = [
    "http://h.example/b/c?q", "https://h.example:8443/", "http://h.example/a/b//c/../d/", "http://[::1]:80/?",
  ]

  /// Compares, and returns how many are sent the same, and how many are refused for which reason although libcurl sends them.
  @discardableResult private func compare(_ inputs: [InstalledCurl.Input]) throws -> [String: Int] {
    let answers = try InstalledCurl.answers(to: inputs)
    try #require(answers.count == inputs.count)
    var counts: [String: Int] = [:]
    for (input, curl) in zip(inputs, answers) {
      let ours = Result { () throws(URLFlaw) in
        guard let base = input.base else { return try URLParts(parsing: input.text) }
        guard !input.text.isEmpty else { throw URLFlaw.noHost }
        return try URLParts(parsing: base).resolving(input.text)
      }
      switch ours {
      case .success(let url):
        let answer = InstalledCurl.Answer(
          scheme: url.scheme.rawValue, host: url.host.text, zone: url.host.zone ?? "", port: "\(url.effectivePort)",
          target: url.requestTarget)
        if answer != curl, isFragmentOnly(input) || losesSlash(input) {
          counts["reference", default: 0] += 1
        } else if answer != curl {
          Issue.record("\(input): \(answer), and libcurl \(String(describing: curl))")
        } else {
          counts["same", default: 0] += 1
        }
      case .failure(let flaw):
        if let curl, !isRow(flaw, input, curl) {
          Issue.record("\(input): \(flaw), and libcurl \(curl)")
        }
        counts[curl == nil ? "refused by both" : "\(flaw)", default: 0] += 1
      }
    }
    return counts
  }

  /// A reference that is only a fragment is an empty path for libcurl 7.88.
  private func isFragmentOnly(_ input: InstalledCurl.Input) -> Bool { input.base != nil && input.text.hasPrefix("#") }

  /// libcurl loses one slash if the base's directory is a second slash alone, and if a reference has one after its dots.
  private func losesSlash(_ input: InstalledCurl.Input) -> Bool {
    guard let base = input.base, let path = try? URLParts(parsing: base).path else { return false }
    return path.hasPrefix("//") && path.dropFirst(2).contains("/") == false
      || input.text.prefixMatch(of: /(\.\/)?(\.\.\/)*\//) != nil && input.text.hasPrefix(".")
  }

  /// Whether docs/urls.md has a row for a text that libcurl sends.
  private func isRow(_ flaw: URLFlaw, _ input: InstalledCurl.Input, _ curl: InstalledCurl.Answer) -> Bool {
    let last = curl.host.split(separator: ".").last ?? ""
    return switch flaw {
    case .backslash: input.text.contains("\\")
    case .hostCharacter: curl.host.contains { "|%\u{7F}".contains($0) }
    case .hostNotEncodable: curl.host.contains { "|%\u{7F}".contains($0) }
    case .hostNumber: last.allSatisfy(\.isNumber) || last.lowercased().hasPrefix("0x")
    case .port: curl.port == "0"
    case .zone:
      curl.zone.contains { !($0.isLetter || $0.isNumber || "-._~".contains($0)) } || !curl.zone.utf8.allSatisfy { $0 < 0x80 }
    case .slashes: input.base != nil && input.text.lowercased().hasPrefix("http")
    case .spaceAtStart: input.text.hasPrefix(" ")
    case .credentialEncoding: input.text.contains("%")
    // libcurl looks for a scheme of up to 40 characters.
    case .scheme(let name): input.base != nil && name.utf8.count > 40
    default: false
    }
  }

  @Test func `generated URLs are sent as libcurl sends them`() throws {
    var random = SeededSequence(seed: 46)
    let inputs = (0..<2000).map { _ in InstalledCurl.Input(text: GeneratedURL.url(&random)) }
    let counts = try compare(inputs)
    #expect(counts["same", default: 0] > 600, "\(counts)")
    #expect(counts["refused by both", default: 0] > 200, "\(counts)")
  }

  @Test func `generated references lead where libcurl's lead`() throws {
    var random = SeededSequence(seed: 47)
    let inputs = (0..<2000).map { _ in
      InstalledCurl.Input(base: Self.bases.randomElement(using: &random), text: GeneratedURL.reference(&random))
    }
    let counts = try compare(inputs)
    #expect(counts["same", default: 0] > 700, "\(counts)")
  }

  @Test func `hosts of numbers are the addresses of libcurl`() throws {
    var random = SeededSequence(seed: 48)
    let inputs = (0..<1000).map { _ in InstalledCurl.Input(text: "http://\(GeneratedURL.numbers(&random))/") }
    let counts = try compare(inputs)
    #expect(counts["same", default: 0] > 300, "\(counts)")
  }

  /// Each character of ASCII, and some beyond, at each place where another part could begin.
  @Test func `every character at every place is read as libcurl reads it`() throws {
    let characters = (0...0x80).compactMap { UnicodeScalar($0).map(String.init) } + ["ä", "\u{3002}", "\u{FF0F}", "\u{200D}"]
    let places = [
      "@http://u:p@h.e/a?b#c", "ht@tp://h.e/", "http@://h.e/", "http:@//h.e/", "http:/@/h.e/", "http://@h.e/",
      "http://u@v:w@h.e/",
      "http://u:v@w@h.e/", "http://h@h.e/", "http://h.e@/a", "http://h.e@:80/a", "http://h.e:@80/a", "http://h.e:8@0/a",
      "http://h.e:80@/a", "http://[::@1]/", "http://[fe80::1%25e@f]/", "http://[::1]@/", "http://h.e/@", "http://h.e/a@b?c",
      "http://h.e?@", "http://h.e/?a@b", "http://h.e#@", "http://h.e/#a@b", "http://h.e/.@/b", "http://h.e/@./b",
      "http://1@.2/",
    ]
    let inputs = places.flatMap { place in
      characters.map { InstalledCurl.Input(text: place.replacing("@", with: $0, maxReplacements: 1)) }
    }
    let references = ["@", "@g", "@/g.e", "/@g.e", "//g.e@/a", "g@h", "..@/g", "?@", "g#@", "http:@g.e/", "h@tp://g.e/"]
    let resolved = references.flatMap { place in
      characters.map { character in
        InstalledCurl.Input(
          base: "http://h.e/b/c?q", text: place.replacing("@", with: character, maxReplacements: 1))
      }
    }
    let counts = try compare(inputs + resolved)
    #expect(counts["same", default: 0] > 1500, "\(counts)")
  }

  /// The URLs and the texts in curl's own tests, if `make curl-suite` has fetched them.
  @Test(.enabled(if: CurlSuite.folder != nil)) func `the URLs of curl's own tests are sent as libcurl sends them`() throws {
    let texts = try CurlSuite.texts()
    #expect(texts.count > 500)
    let inputs =
      texts.map { InstalledCurl.Input(text: $0) }
      + texts.map { InstalledCurl.Input(base: Self.bases[0], text: $0) }
    let counts = try compare(inputs)
    #expect(counts["same", default: 0] > 500, "\(counts)")
  }
}

/// curl's own tests, where `.ci/curl-suite` puts them.
enum CurlSuite {
  static let folder: URL? = {
    let suites = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../.build/curl-suite")
    let names = (try? FileManager.default.contentsOfDirectory(atPath: suites.path)) ?? []
    return names.filter { $0.hasPrefix("curl-") }.sorted().last.map { suites.appending(path: "\($0)/tests") }
  }()

  /// What its tests call URLs, and every text of its test of URLs.
  static func texts() throws -> [String] {
    let folder = try #require(folder)
    var texts: Set<String> = []
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "data").path)
    where name.hasPrefix("test") {
      let file = try Data(contentsOf: folder.appending(path: "data/\(name)"))
      var text = String(decoding: file, as: UTF8.self)
      for (mark, value) in [("%HOSTIP", "127.0.0.1"), ("%HOST6IP", "[::1]"), ("%TESTNUMBER", "1")] {
        text = text.replacing(mark, with: value)
      }
      text = text.replacing(/%[A-Z0-9]+PORT/, with: "8990")
      for match in text.matches(of: /(?i)https?:[^\s"'<>]*/) { texts.insert(String(match.0)) }
      for match in text.matches(of: /(?im)^Location: ([^\r\n]*)/) { texts.insert(String(match.1)) }
    }
    let program = try String(contentsOf: folder.appending(path: "libtest/lib1560.c"), encoding: .utf8)
    for match in program.matches(of: /"((?:[^"\\\n]|\\.)*)"/) {
      texts.insert(String(match.1).replacing("\\\\", with: "\\").replacing("\\\"", with: "\""))
    }
    return texts.sorted()
  }
}
