import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// `send --map`: what the server calls each file.
@Suite struct SendMapTests {
  /// Calls the files by their contents: `{"data":[{"id":"<contents>","n":<request>}]}`.
  private let server: ScriptedServer
  private let place: TemporaryDirectory

  init() throws {
    server = try ScriptedServer { request in
      [
        .readBody,
        .decide { request in
          let contents = SentFile(lastPartOf: request).map { String(decoding: $0.contents, as: UTF8.self) }
          let id = contents?.split(separator: "\n").first ?? ""
          return [.respond(200, body: #"{"data":[{"id":"\#(id)","n":\#(request.number)}]}"#)]
        },
      ]
    }
    place = try TemporaryDirectory()
    _ = try shell("mkdir in; for n in 1 2; do echo word$n > in/f$n; done", in: place)
  }

  /// Runs a script, in which `S` sends the files one after another, with a journal and a map.
  private func script(_ text: String) throws -> Invocation {
    try shell(
      """
      M() { $F send -q -j 1 --retry 0 --journal j --map-value 'data[0].id' "$@" \(server.url) in; }
      S() { M --map map "$@"; }
      # With a journal, paths begin at the root.
      lines() { sed "s|^$PWD/||" map; }; \(text)
      """, in: place)
  }

  @Test func `over rounds, a file that is sent again gets a new line`() throws {
    let result = try script("S; S; echo longer > in/f1; S; lines | sort")
    #expect(result.output == "in/f1\tlonger\nin/f1\tword1\nin/f2\tword2\n", "\(result.stderr)")
    // The last line of a file counts.
    #expect(try shell("grep f1 map | tail -n 1 | cut -f 2", in: place).output == "longer\n")
  }

  /// A file that the journal calls accepted has its line, so the line is written first.
  @Test func `a file without its line is not accepted in the journal, and is sent again`() throws {
    let failed = try script("M --map /dev/full; echo $?; cat j/journal-*")
    #expect(failed.output.hasPrefix("74\n") && failed.output.contains("started"), "\(failed.output)")
    #expect(!failed.output.contains("\"ok\""), "\(failed.output)")
    #expect(failed.stderr.contains("\"/dev/full\" of --map can't be written: No space left"), "\(failed.stderr)")
    #expect(server.requests.count == 1)
    let next = try script("S; echo $?; lines | sort; $F report j")
    #expect(next.output.hasPrefix("0\nin/f1\tword1\nin/f2\tword2\n2 files: 2 ok."), "\(next.output)")
    #expect(server.requests.count == 3)
  }

  @Test func `each file of a request has its own value`() throws {
    let server = try ScriptedServer { _ in
      .good(body: #"{"files":[{"id":71},{"id":"b"},{"id":null}],"all":7}"#)
    }
    let result = try shell(
      """
      echo 3 > in/f3
      S() { $F send --per-request 3 "$@" \(server.url) in/f1 in/f2 in/f3; }
      S --map map --map-value 'files[{i}].id'; echo $?; cat map; S --map map --map-value all; echo $?
      """, in: place)
    #expect(result.output == "0\nin/f1\t71\nin/f2\tb\n64\n", "\(result.output)")
    #expect(result.stderr.contains("in/f3: it was accepted, and is not in the file of --map: "))
    #expect(result.stderr.contains("no text or integer at \"files[2].id\"."), "\(result.stderr)")
    #expect(result.stderr.contains("write {i} for the place of each, like files[{i}].id"), "\(result.stderr)")
    #expect(server.requests.count == 1)
  }

  @Test(arguments: [
    ("", "the response is not JSON, or too long"), ("{}", "no text or integer at \"a.id\""),
    (#"{"a":{"id":null}}"#, "no text or integer"), (#"{"a":{"id":[1]}}"#, "no text or integer"),
    (#"{"a":{"id":1.5}}"#, "no text or integer"), (#"{"a":{"id":""}}"#, "of the response is empty"),
  ])
  func `a file without a value is accepted, has no line, and is named`(
    _ body: String, _ reason: String
  ) throws {
    let server = try ScriptedServer { _ in .good(body: body) }
    let result = try shell(
      "S() { $F send --map map --map-value a.id \"$@\" \(server.url) in/f1; }; S; echo $?; cat map", in: place)
    #expect(result.output == "0\n", "\(result.output)")
    #expect(result.stderr.contains("in/f1: it was accepted, and is not in the file of --map: "))
    #expect(result.stderr.contains(reason) && result.stderr.contains("1 file: 1 ok."), "\(result.stderr)")
    let quiet = try shell("$F send -q -j 1 --map map --map-value a.id \(server.url) in/f1 in/f2 in/f1", in: place)
    #expect(quiet.exit == 0 && quiet.stderr.contains(reason), "\(quiet.stderr)")
    #expect(quiet.stderr.hasSuffix(" The same is true of 1 other file.\n"), "\(quiet.stderr)")
    #expect(quiet.stderr.count { $0.isNewline } == 1)
  }

  @Test func `names and values are on one line, and names are exact`() throws {
    let server = try ScriptedServer { _ in .good(body: #"{"id":"x\ty\nz"}"#) }
    try writeFile(LocalPath(bytes: Array("\(place.path)/in/".utf8) + [0xFF, 10]), [])
    let result = try shell("$F send -q --map map --map-value id \(server.url) in; sort map", in: place)
    #expect(
      result.output == """
        in/f1\tx\\u{9}y\\u{A}z
        in/f2\tx\\u{9}y\\u{A}z
        in/\u{FFFD}\\u{A}\tx\\u{9}y\\u{A}z\taW4v/wo=

        """, "\(result.output)")
  }

  /// A record keeps 4096 bytes.
  @Test func `the value may be anywhere in a long response`() throws {
    let server = try ScriptedServer { _ in
      .good(body: #"{"text":"\#(String(repeating: "x", count: 100_000))","id":"far"}"#)
    }
    let result = try shell("$F send -q --map map --map-value id \(server.url) in/f1; cat map", in: place)
    #expect(result.output == "in/f1\tfar\n", "\(result.stderr)")
  }

  @Test func `only accepted files have lines, once all their slices are sent`() throws {
    let mismatch = try script("S --verify 'data[0].n'; echo $?; wc -c < map")
    #expect(mismatch.output == "1\n0\n", "\(mismatch.stderr)")
    let sliced = try shell(
      "$F send -q --slice 2 --map map --map-value 'data[0].n' \(server.url) in/f1; cut -f 1 map", in: place)
    #expect(sliced.output == "in/f1\n", "\(sliced.stderr)")
    #expect(try shell("cut -f 2 map", in: place).output == "\(server.requests.count - 1)\n")
  }

  @Test(arguments: [
    ("--map map", "add --map-value PATH"), ("--map-value id", "add --map FILE"),
    ("--map map --map-value a..b", "is not a path of names and indices"),
  ])
  func `one flag without the other is an error`(_ flags: String, _ says: String) throws {
    let result = try shell("$F send \(flags) \(server.url) in; echo $?; ls", in: place)
    #expect(result.output == "64\nin\n", "\(result.output)")
    #expect(result.stderr.contains(says), "\(result.stderr)")
    #expect(server.requests.isEmpty)
  }
}
