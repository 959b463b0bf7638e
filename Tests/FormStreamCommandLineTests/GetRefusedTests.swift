import FormStreamTestSupport
import Testing

/// `formstream get -o`: a refused response is printed, and its bytes are counted.
@Suite struct GetRefusedTests {
  private static let outputs = [
    "-o f", "-O", "-J", "-o f --no-clobber", "-o f --remove-on-error", "-o f -i",
    "-o f --compressed",
  ]

  /// Regression: only what went into the file was counted.
  @Test(arguments: outputs, [201, 202, 205, 206, 207, 226, 299, 300, 404, 499])
  func `a refused response is printed, and its bytes arrived and were passed on`(
    _ output: String, _ status: Int
  ) throws {
    let server = try ScriptedServer { _ in .good(status, body: "BODY-of-9") }
    let format = "|%{size_download} %{size_delivered}|"
    let result = try shell("$F get -q \(output) -w '\(format)' \(server.url)/f; echo $?; ls")
    #expect(result.output.hasSuffix("BODY-of-9|9 9|1\n"), "\(result)")
    // The record has the head.
    let flags = output.replacing(" -i", with: "")
    let record = try shell("$F get -q --json \(flags) \(server.url)/f")
    #expect(record.output.contains(#""bytes_received":9,"#), "\(record.output)")
    #expect(record.output.contains(#""body":"BODY-of-9""#), "\(record.output)")
  }

  /// Regression: after a part of the file, the response to the request for the rest was printed nowhere.
  @Test(arguments: [202, 403])
  func `a response that ends a download is printed, and its bytes are counted`(
    _ status: Int
  ) throws {
    let server = try ScriptedServer { request in
      let tag = [("ETag", "\"a\"")]
      if request.number > 0 { return .good(status, body: "BODY-of-9") }
      return [
        .respond(200, headers: tag, bytes: Array("abc".utf8), framing: .announced(8)), .close,
      ]
    }
    let format = "|%{size_download} %{size_delivered}|"
    let flags = "--retry 2 --retry-delay 0.01 -o f"
    let result = try shell("$F get -q \(flags) -w '\(format)' \(server.url)/f; echo $?; cat f.part")
    #expect(result.output == "BODY-of-9|12 12|1\nabc", "\(result)")
  }

  @Test(arguments: ["get -o f", "get -o f -i", "post -d a -o f", "put -d a -o f"])
  func `of a refused response that is cut, what arrived is counted`(_ line: String) throws {
    let server = try ScriptedServer { _ in
      [.respond(404, bytes: Array("BODY".utf8), framing: .announced(9)), .close]
    }
    let format = "|%{size_download} %{size_delivered}|"
    let result = try shell("$F \(line) -q --retry 0 -w '\(format)' \(server.url)/f")
    #expect(result.output.hasSuffix("BODY|4 4|"), "\(result)")
    let recorded = line.replacing(" -i", with: "")
    let record = try shell("$F \(recorded) -q --retry 0 --json \(server.url)/f")
    #expect(record.output.contains(#""bytes_received":4,"#), "\(record.output)")
  }

  @Test(arguments: [
    ("post -d a -o f", "BODY-of-9|9 9|"), ("put -d a -o f", "BODY-of-9|9 9|"),
    ("get -r 0-8 -o f", "BODY-of-9|9 9|"), ("get -f -o f", "|9 0|"), ("post -f -d a -o f", "|9 0|"),
    ("get -o /dev/null", "|9 9|"),
  ])
  func `what is printed in place of a file was passed on`(
    _ line: String, _ expected: String
  ) throws {
    let server = try ScriptedServer { _ in .good(404, body: "BODY-of-9") }
    let format = "|%{size_download} %{size_delivered}|"
    let result = try shell("$F \(line) -q -w '\(format)' \(server.url)/f")
    #expect(result.output == expected, "\(result)")
  }

  /// The beginning of what is stored is kept to explain errors, and is no refused response.
  @Test(arguments: ["", "--expect-status 201,404"])
  func `the beginning of a file that is cut is not printed`(_ flags: String) throws {
    let status = flags.isEmpty ? 200 : 404
    let server = try ScriptedServer { _ in
      let tag = [("ETag", "\"a\"")]
      return [
        .respond(status, headers: tag, bytes: Array("abc".utf8), framing: .announced(8)), .close,
      ]
    }
    let result = try shell(
      "$F get -q --retry 0 \(flags) -o f -w '%{size_download} %{size_delivered}' \(server.url)/f; cat f.part"
    )
    #expect(result.output == "3 3abc", "\(result)")
    let record = try shell("$F get -q --retry 0 --json \(flags) -o f \(server.url)/f")
    #expect(record.output.contains(#""body":null"#), "\(record.output)")
  }
}
