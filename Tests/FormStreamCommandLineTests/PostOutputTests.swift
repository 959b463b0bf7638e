import FormStreamTestSupport
import Testing

/// Standard output that can't be written: the message says what became of the request, whose exit code counts.
@Suite struct PostOutputTests {
  private static let closed = "could not be written: Bad file descriptor."

  @Test(arguments: [
    (">/dev/full", "could not be written: No space left on device."), (">&-", closed),
    ("| gone", "was closed by its reader before everything was written:"),
  ])
  func `if nothing can be printed, the message says what became of the request`(
    _ redirection: String, _ says: String
  ) throws {
    let server = try ScriptedServer { request in
      .good(Int(request.target.dropFirst()) ?? 0, body: "text")
    }
    for (status, exit, verdict) in [
      (200, 74, "The server accepted the request (status 200)."),
      (404, 1, "The server at \(server.url)/404 responded 404 to POST."),
    ] {
      for flags in ["", "--json"] {
        let closed = try Gate()
        let held = try ScriptedServer { request in
          request.target == "/closed"
            ? [.readBody, .open(closed), .respond(200)]
            : [.readBody, .waitFor(closed), .respond(status, body: "text")]
        }
        let url = redirection == "| gone" ? held.url : server.url
        let reader = "| { exec 0<&-; curl -s -o page \(held.url)/closed; }"
        let result = try shell(
          """
          { $F post \(flags) -d a \(url)/\(status); echo $? >&2; } \
          \(redirection == "| gone" ? reader : redirection)
          """)
        let message = verdict.replacing(server.url, with: url)
        #expect(result.stderr.contains(" Standard output \(says)"), "\(result.stderr)")
        #expect(
          result.stderr.hasSuffix("The output is incomplete. \(message)\n\(exit)\n")
            || result.stderr.hasSuffix("the output is incomplete. \(message)\n\(exit)\n"),
          "\(flags): \(result.stderr)")
      }
    }
    #expect(server.faults.isEmpty)
  }

  @Test(arguments: ["--max-time", "--response-timeout"])
  func `a limit of time names its flag, and asks to look at the server`(_ flag: String) throws {
    let gate = try Gate()
    let server = try ScriptedServer { _ in [.readBody, .waitFor(gate)] }
    defer { gate.open() }
    let result = try formstream("post", flag, "0.3", "-d", "a", server.url)
    #expect(result.exit == 3)
    #expect(
      result.stderr.hasSuffix(
        " 0.3 s: raise the limit (\(flag)). Ask the server whether it received the request before you send it again.\n"
      ), "\(result.stderr)")
  }

  /// Regression: nothing was said of the request.
  @Test(arguments: [
    "-D /dev/full U/200", "-w hi -o /dev/null U/200 > /dev/full", "-c /dev/full U/200",
    "-D /dev/full U/404", "-w hi -o /dev/null U/404 > /dev/full", "-D /dev/full U/200 U/200",
  ])
  func
    `if heads, cookies or a format can't be written, the message says what became of the request`(
      _ line: String
    ) throws
  {
    let server = try ScriptedServer { request in .good(Int(request.target.dropFirst()) ?? 0) }
    for verb in ["get", "post -d a"] where verb == "get" || !line.hasSuffix("200 U/200") {
      let typed = line.replacing("U/", with: server.url + "/")
      let result = try shell("$F \(verb) \(typed)")
      let isRefused = line.contains("404")
      #expect(result.exit == (isRefused ? 1 : 74), "\(result.stderr)")
      #expect(result.stderr.contains("No space left on device"), "\(result.stderr)")
      #expect(
        result.stderr.contains(
          isRefused ? "responded 404 to" : "The server accepted the request (status 200)."),
        "\(result.stderr)")
    }
  }

  @Test(.enabled(if: SmallDisk.isAllowed, "a file system can't be mounted here"))
  func `heads that are not complete have no name`() throws {
    let server = try ScriptedServer { _ in
      .good(headers: [("X-A", String(repeating: "a", count: 100_000))])
    }
    try SmallDisk.mounted(size: "64k", files: 10) { disk in
      let result = try formstream("post", "-d", "a", "-D", "\(disk)/h", server.url)
      #expect(result.exit == 74)
      #expect(result.stderr.contains("The server accepted the request"), "\(result.stderr)")
      #expect(try shell("ls -A \(disk)").output == "")
    }
  }

  @Test func `an outcome that is not known stays so if its record can't be printed`() throws {
    let server = try ScriptedServer { _ in [.readBody, .close] }
    for redirection in [">/dev/full", ">&-"] {
      let result = try shell("$F post --json -d a \(server.url) \(redirection); echo $? >&2")
      #expect(result.stderr.contains(" Standard output could not be written: "))
      #expect(result.stderr.contains("Ask the server whether it received"), "\(result.stderr)")
      #expect(result.stderr.hasSuffix("\n3\n"), "\(result.stderr)")
    }
  }
}

/// Standard input, output and error that are closed when the command starts.
@Suite struct ClosedDescriptorTests {
  /// Regression: a closed standard input was sent as 0 bytes, because another file had got its number.
  @Test(arguments: [
    "put -T -", "put -T /dev/stdin", "put -T /dev/fd/0", "put -T /proc/self/fd/0", "put -T link",
    "post -F f=@-", "post -F f=@/dev/stdin", "post -F 'f=</dev/stdin'", "post --file f=/dev/stdin",
    "post -d @-", "post -d @/dev/stdin", "post --data-binary @-", "post --data-binary @/dev/stdin",
    "post --json-body @/dev/stdin", "post --data-urlencode a@/dev/stdin",
    "post -d a --token-file -", "post -d a --token-file /dev/stdin",
    "post -d a --header-file /dev/stdin", "post -d a --config /dev/stdin",
    "put -T - --dry-run", "put -T /dev/stdin --dry-run",
  ])
  func `a closed standard input that is named is an input error`(_ arguments: String) throws {
    let server = try ScriptedServer { _ in [.unexpected] }
    let result = try shell("ln -s /dev/stdin link; $F \(arguments) \(server.url)/ <&-; echo $?")
    #expect(result.output == "66\n", "\(result.stderr)")
    #expect(result.stderr.hasSuffix(" Redirect it with < or |.\n"), "\(result.stderr)")
    #expect(server.connections.isEmpty)
  }

  @Test(arguments: [
    "parse --boundary B -", "parse --boundary B /dev/stdin", "sniff --files-from -",
    "sniff /dev/stdin", "encode -F f=@-", "encode -F f=@/dev/fd/0",
  ])
  func `no command reads another file in place of a closed standard input`(
    _ arguments: String
  ) throws {
    let result = try shell("$F \(arguments) <&-; echo $?")
    #expect(result.output == "66\n", "\(result.output) \(result.stderr)")
  }

  @Test func `neither a file nor a socket gets the number of a closed descriptor`() throws {
    let reached = try Gate()
    let server = try ScriptedServer { _ in [.readBody, .open(reached), .stall] }
    let place = try TemporaryDirectory()
    try place.write("words", "words\n")
    let program = try RunningProgram(
      program: "/bin/bash",
      rawArguments: [
        "-c", "exec $F post -F f=@words -o answer \(server.url) <&- >&- 2>&-",
      ].map { Array($0.utf8) }, in: place, environment: ["F": builtBinary("formstream")])
    #expect(reached.wait())
    let numbers = try shell(
      "for number in 0 1 2; do readlink /proc/\(program.pid)/fd/$number; done")
    #expect(numbers.output == "/\n/\n/\n", "\(numbers.output)")
  }

  @Test func `a response goes to a file, whatever is closed`() throws {
    let server = try ScriptedServer { _ in .good(body: "text") }
    let result = try shell(
      """
      $F post -d a -o answer \(server.url) <&- >&- 2>&-; echo $?; cat answer; echo
      $F post -d a -o /dev/null \(server.url) >&-; echo $?
      """)
    #expect(result.output == "0\ntext\n0\n", "\(result.output)")
  }
}
