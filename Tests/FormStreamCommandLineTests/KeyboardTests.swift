import Foundation
import FormStreamTestSupport
import Testing

/// Somebody at a keyboard: passwords that are asked for, and standard input that is typed.
@Suite struct KeyboardTests {
  private static let keyboard = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Terminal/keyboard.py").path

  private static func typing(_ steps: [String], _ words: [String]) throws -> Invocation {
    try run(
      program: "/usr/bin/env",
      ["python3", keyboard] + steps + ["--", builtBinary("formstream")] + words,
      environment: ["TERM": "xterm"])
  }

  @Test(arguments: ["-u", "-U"]) func `a password that is missing is asked for and not shown`(
    _ flag: String
  ) throws {
    let server = try ScriptedServer { _ in .good(body: "thanks\n") }
    let proxy = flag == "-U" ? ["-x", "127.0.0.1:\(server.port)"] : []
    let result = try Self.typing(
      ["see:Password of me for", "echo:off", "type:canary\\n"],
      ["post", flag, "me", "-d", "a"] + proxy + [server.url])
    #expect(result.output.contains("thanks\nexit 0\necho on\n"), "\(result.output)")
    #expect(!result.output.contains("canary"))
    let header = flag == "-u" ? "Authorization" : "Proxy-Authorization"
    #expect(server.requests.first?.header(header) == "Basic bWU6Y2FuYXJ5")
  }

  @Test(arguments: ["SIGINT", "SIGTERM", "SIGHUP"])
  func `a signal makes the terminal show again what is typed`(_ signal: String) throws {
    let server = try ScriptedServer { _ in [.unexpected] }
    let result = try Self.typing(
      ["see:Password of me for", "echo:off", "signal:\(signal)"],
      ["post", "-u", "me", "-d", "a", server.url])
    let numbers = ["SIGINT": 2, "SIGTERM": 15, "SIGHUP": 1]
    #expect(
      result.output.hasSuffix("signal \(numbers[signal] ?? 0)\necho on\n"), "\(result.output)")
    #expect(server.connectionCount == 0)
  }

  @Test(arguments: ["\\n", "\\x04"]) func `an empty password is an error`(_ typed: String) throws {
    let server = try ScriptedServer { _ in [.unexpected] }
    let result = try Self.typing(
      ["see:Password of", "echo:off", "type:\(typed)"], ["get", "-u", "me", server.url])
    #expect(result.output.contains("No password was typed"), "\(result.output)")
    #expect(result.output.hasSuffix("exit 64\necho on\n"), "\(result.output)")
  }

  @Test func `without a terminal, a password that is missing is an error that says what to do`()
    throws
  {
    for flag in ["-u", "-U"] {
      let result = try formstream("post", flag, "me", "-d", "a", "http://127.0.0.1:1/")
      #expect(result.exit == 64)
      #expect(result.stderr.contains("has no colon in it: write USER:PASS"), "\(result.stderr)")
      #expect(result.stderr.contains("only if standard input is a terminal"), "\(result.stderr)")
    }
    // Nothing is sent, so nothing is asked.
    let dry = try formstream("post", "--dry-run", "-u", "me", "-d", "a", "http://127.0.0.1:1/")
    #expect(dry.exit == 0, "\(dry.stderr)")
  }

  /// Regression: "connecting" was drawn over what was typed.
  @Test(arguments: [
    ["post", "-F", "a=@-"], ["post", "-F", "a=<-"], ["post", "-d", "@-"], ["put", "-T", "-"],
    ["put", "-T", "."], ["post", "--progress", "bar", "-T", "-"],
    ["post", "--read-ahead", "0", "-T", "-"],
  ])
  func `what is typed is announced, and nothing is drawn over it`(_ words: [String]) throws {
    let server = try ScriptedServer { _ in .good(body: "thanks\n") }
    // Longer than the time after which a bar would appear.
    let result = try Self.typing(
      [
        "see:Reading standard input", "type:one\\n", "see:one", "type:two\\n", "see:two",
        "type:\\x04",
      ],
      words + [server.url])
    #expect(result.output.contains("thanks\nexit 0\n"), "\(result.output)")
    #expect(!result.output.contains("connecting"), "\(result.output)")
    #expect(!result.output.contains("\u{1B}"), "\(result.output)")
    let body = String(decoding: server.requests.first?.body ?? [], as: UTF8.self)
    #expect(body.contains("one"), "\(body)")
  }

  @Test(arguments: [
    (["parse", "--boundary", "B", "-"], "--B--\\n\\x04"),
    (["sniff", "--files-from", "-"], "\\x04"),
    (["post", "--token-file", "-", "-d", "a", "URL"], "token\\n\\x04"),
    (["get", "-K", "-", "URL"], "\\x04"),
    (["send", "--files-from", "-", "URL"], "\\x04"),
  ])
  func `every command says that it reads standard input`(
    _ words: [String], _ typed: String
  ) throws {
    let server = try ScriptedServer { _ in .good(body: "thanks\n") }
    let result = try Self.typing(
      ["see:formstream: Reading standard input; Ctrl-D", "type:\(typed)"],
      words.map { $0 == "URL" ? server.url : $0 })
    #expect(result.output.contains("exit 0\n"), "\(result.output)")
  }

  @Test func `a pipe is read without a word`() throws {
    let server = try ScriptedServer { _ in .good() }
    let result = try run("formstream", ["put", "-T", "-", server.url], standardInput: [1])
    #expect((result.exit, result.stderr) == (0, ""))
  }

  /// Regression: standard input was announced first, and the password was typed under that.
  @Test(arguments: [
    (["put", "-u", "me", "-T", "-"], "--no-location"), (["post", "-u", "me", "-F", "a=@-"], "-q"),
    (["post", "-u", "me", "--data-binary", "@-"], "--no-fail"),
  ])
  func `a password is asked for before standard input is announced`(
    _ words: [String], _ last: String
  ) throws {
    let server = try ScriptedServer { _ in .good(body: "thanks\n") }
    let isQuiet = last == "-q"
    let result = try Self.typing(
      ["see:Password of me for", "echo:off", "type:canary\\n"]
        + (isQuiet ? ["echo:on"] : ["see:Reading standard input"]) + ["type:one\\n\\x04"],
      words + [last, server.url])
    #expect(result.output.contains("thanks\nexit 0\n"), "\(result.output)")
    let places = ["Password of", "Reading standard"].map {
      result.output.firstRange(of: $0)?.lowerBound
    }
    if let first = places[0], let second = places[1] {
      #expect(first < second, "\(result.output)")
    } else {
      #expect(isQuiet && places[0] != nil, "\(result.output)")
    }
    #expect(server.requests.first?.header("Authorization") == "Basic bWU6Y2FuYXJ5")
    #expect(result.output.matches(of: /Reading standard input/).count == (isQuiet ? 0 : 1))
  }

  /// Data that is put together is read before the password.
  @Test func `standard input that is read first is announced first`() throws {
    let server = try ScriptedServer { _ in .good(body: "thanks\n") }
    let result = try Self.typing(
      [
        "see:Reading standard input", "type:one\\n\\x04", "see:Password of me for", "echo:off",
        "type:canary\\n",
      ], ["post", "-u", "me", "-d", "@-", "-d", "two", server.url])
    #expect(result.output.contains("thanks\nexit 0\n"), "\(result.output)")
    #expect(result.output.matches(of: /Reading standard input/).count == 1, "\(result.output)")
    #expect(server.requests.first?.body == Array("one&two".utf8))
  }

  @Test func `a wrong command line is explained without a word about standard input`() throws {
    let result = try Self.typing([], ["put", "-T", "-", "-X", "a b", "http://127.0.0.1:1/"])
    #expect(result.output.contains("is not a method"), "\(result.output)")
    #expect(!result.output.contains("Reading standard input"), "\(result.output)")
  }
}
