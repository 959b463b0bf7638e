import FormStreamTestSupport
import Testing

/// What the server said, in the message about a request that it refused.
@Suite struct ServerWordsTests {
  private static func gzip(_ text: String) throws -> [UInt8] {
    try run(program: "/bin/gzip", ["-9"], standardInput: Array(text.utf8)).stdout
  }

  /// A server that refuses each request, with bodies of different kinds.
  private func server() throws -> ScriptedServer {
    let coded = try Self.gzip("The disk is full.")
    let zeros = try Self.gzip(String(repeating: "x", count: 200_000))
    let (gzip, text) = (("Content-Encoding", "gzip"), ("Content-Type", "text/plain"))
    return try ScriptedServer { request in
      func refuse(_ bytes: [UInt8], _ headers: (String, String)...) -> [ScriptedStep] {
        [.readBody, .respond(422, headers: headers, bytes: bytes)]
      }
      switch request.target.split(separator: "/").last {
      case "coded": return refuse(coded, gzip, text)
      case "long": return refuse(zeros, gzip)
      case "torn": return refuse(Array(coded.prefix(14)), gzip)
      case "undeclared": return refuse(coded, text)
      case "image": return refuse(Array("GIF89a, or so".utf8), ("Content-Type", "image/gif"))
      case "noise": return refuse([0x41, 0xFF, 0x42, 0x01])
      case "latin":
        return refuse([0x7A, 0x75, 0x20, 0x67, 0x72, 0x6F, 0xDF], ("Content-Type", "text/plain; charset=ISO-8859-1"))
      case "json": return refuse(Array(#"{"error":"full"}"#.utf8), ("Content-Type", "application/problem+json"))
      default: return refuse(Array("The name is taken.".utf8))
      }
    }
  }

  /// `The server says: \u{1F}�\u{8} 8 k…`
  @Test func `a coded answer is decoded, and no answer is shown that is no text`() throws {
    let server = try server()
    let result = try shell(
      """
      mkdir t; for name in coded long torn undeclared image noise latin json plain; do echo > "t/$name"; done
      $F send --put '\(server.url)/{name}' --journal j t > /dev/null 2> messages
      grep ': failed: .*The server says' messages > said; grep -c . said; cat said; $F report --html - j 2> /dev/null | grep -c 'The server says'
      """)
    for words in [
      "The disk is full.", String(repeating: "x", count: 200) + "…", "zu groß", #"{"error":"full"}"#, "The name is taken.",
    ] { #expect(result.output.contains("The server says: \(words)\n"), "\(words) is not in \(result.output)") }
    // What arrived of a torn answer is shown. The other three are no text.
    #expect(result.output.hasPrefix("6\n"), "\(result.output)")
    for name in ["undeclared", "image", "noise"] { #expect(!result.output.contains("/\(name): "), "\(result.output)") }
    #expect(!result.output.contains("\\u{"), "\(result.output)")
  }

  /// Regression: the report said "zu gro", and nothing of the other one.
  @Test(
    arguments: [
      (Array("zu gro".utf8) + [0xDF], "zu groß"), (Array("Gr".utf8) + [0xF6, 0xDF] + Array("e fehlt".utf8), "Größe fehlt"),
      ([0x93] + Array("no".utf8) + [0x94, 0x20, 0x80], "“no” €"), (Array("voil".utf8) + [0xC3, 0xA0], "voilà"),
      // Most of these bytes are no ASCII: they may be anything.
      ([0xCD, 0xE5, 0xF2, 0x21], nil),
    ] as [([UInt8], String?)])
  func `an answer without a charset is shown as what it most likely is`(_ bytes: [UInt8], text: String?) throws {
    for headers in [[], [("Content-Type", "text/plain")]] {
      let server = try ScriptedServer { _ in [.readBody, .respond(422, headers: headers, bytes: bytes)] }
      let run = try shell(
        """
        echo > a; $F send --journal j \(server.url) a 2>&1 | grep -o 'The server says: .*'
        $F report --failures j 2> /dev/null | cut -f 4
        """)
      if let text {
        #expect(
          run.output.split(separator: "\n").suffix(2) == ["The server says: \(text)", text[...]], "\(run.output) \(run.stderr)")
      } else if headers.isEmpty {
        #expect(!run.output.contains("The server says") && run.output.contains("responded 422"), "\(run.output)")
      }
    }
  }

  /// A long answer is cut at a byte. It may be the second byte of a character.
  @Test func `an answer that is cut inside a character is shown without that character`() throws {
    let server = try ScriptedServer { _ in .good(422, body: String(repeating: "ä", count: 5000)) }
    let run = try shell(
      "echo a > a; $F send --journal j \(server.url) a > /dev/null 2>&1; $F report --failures j 2> /dev/null | cut -f 4")
    #expect(run.output == String(repeating: "ä", count: 200) + "…\n", "\(run.output)")
  }

  /// With `-f`, the server's words were nowhere.
  @Test(arguments: ["post -d a", "put -d a", "get", "get -r 0-1"])
  func `a message has the server's words if they are printed nowhere else`(_ verb: String) throws {
    let server = try server()
    let words = "The server says: The name is taken."
    for (flags, isShown) in [
      ("-f", true), ("-f -o file", true), ("", false), ("-o file", false), ("--json", false), ("-f --json", false),
      ("--output-any-status -o file", false),
    ] {
      let result = try shell("$F \(verb) \(flags) \(server.url)/plain")
      #expect(result.exit == 1 && result.stderr.contains(words) == isShown, "\(flags): \(result.stderr)")
      #expect(flags.hasSuffix("file") || result.output.contains("The name is taken.") == !isShown, "\(flags): \(result.output)")
    }
    let coded = try shell("$F \(verb) -f \(server.url)/coded")
    #expect(coded.stderr.contains("The server says: The disk is full."), "\(coded.stderr)")
    let image = try shell("$F \(verb) -f \(server.url)/image")
    #expect(image.exit == 1 && !image.stderr.contains("The server says"), "\(image.stderr)")
  }
}
