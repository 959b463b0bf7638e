import Glibc
import FormStreamTestSupport

/// A running `formstream receive` at a free port. It is ended with this object, if not before.
final class Receiving {
  /// Its first line of output.
  let listening: String
  /// Its URL without a slash at the end: `http://127.0.0.1:40123`.
  let url: String
  let place: TemporaryDirectory
  private let program: RunningProgram

  /// Starts it with records as output, and waits until it listens.
  convenience init(_ flags: String..., in place: TemporaryDirectory? = nil) throws {
    try self.init(flags, in: place)
  }

  convenience init(_ flags: [String], in place: TemporaryDirectory? = nil) throws {
    let flags = ["--json"] + (flags.contains("--listen") ? flags : ["--listen", "0"] + flags)
    try self.init(
      program: builtBinary("formstream"), [Array("receive".utf8)] + flags.map { Array($0.utf8) },
      in: place)
  }

  /// Starts it by a line of shell, in which `$F` is the command. The first line of output must hold the URL.
  convenience init(shell line: String, in place: TemporaryDirectory? = nil) throws {
    try self.init(program: "/bin/bash", [Array("-c".utf8), Array("exec \(line)".utf8)], in: place)
  }

  init(program: String, _ arguments: [[UInt8]], in place: TemporaryDirectory?) throws {
    self.place = try place ?? TemporaryDirectory()
    self.program = try RunningProgram(
      program: program, rawArguments: arguments, in: self.place,
      environment: ["F": builtBinary("formstream")])
    listening = try self.program.line()
    url = listening.firstMatch(of: /https?:\/\/[^\/]*/).map { String($0.output) } ?? ""
  }

  var port: UInt16 { url.split(separator: ":").last.flatMap { UInt16($0) } ?? 0 }

  /// The next line of output.
  func record() throws -> String { try program.line() }

  var pid: Int32 { program.pid }

  func signal(_ number: Int32) { program.signal(number) }

  /// Waits until it ends, and returns the rest of its output.
  func wait() throws -> Invocation { try program.wait() }

  /// Ends it.
  @discardableResult func end(_ number: Int32 = SIGTERM) throws -> Invocation {
    signal(number)
    return try wait()
  }

  /// Runs `formstream post` with these arguments before the URL.
  func post(_ arguments: String...) throws -> Invocation {
    try run("formstream", ["post"] + arguments + [url], in: place)
  }

  /// Runs a line of shell, in which `$F` is the command and `$U` the URL.
  func shell(_ line: String) throws -> Invocation {
    try run(
      program: "/bin/bash", ["-c", line], in: place,
      environment: ["F": builtBinary("formstream"), "U": url])
  }

  /// Waits until a directory holds `count` files. Those that are not complete have no name, but a descriptor.
  func wait(for count: Int, in directory: String) throws {
    let files = "(ls -A '\(directory)'; ls -l /proc/\(pid)/fd | grep '/\(directory)/#')"
    _ = try shell("until [ $(\(files) | wc -l) -ge \(count) ]; do sleep 0.01; done")
  }

  /// Waits until no connections are accepted any more.
  func waitUntilClosed() throws {
    _ = try shell("while curl -s $U > page; do sleep 0.01; done")
  }

  /// The names of the files in a directory, in order.
  func names(in directory: String) throws -> [String] {
    try shell("ls -A '\(directory)'").output.split(separator: "\n").map(String.init)
  }
}

/// A curl command that prints the status of the response, and stores its body in `answer`.
let curl = "curl -sS -o answer -w '%{http_code}\\n'"

extension RawClient {
  /// Starts an upload of `size` bytes, and sends only the first `sent` of them.
  static func uploading(
    to receiver: Receiving, _ target: String = "/held", size: Int, sent: Int
  ) throws -> RawClient {
    let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
    try client.send("PUT \(target) HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n")
    try client.send(String(repeating: "x", count: sent))
    return client
  }

  /// Everything that arrives until the connection ends.
  func response() throws -> String {
    var bytes: [UInt8] = []
    while try receiveMore(into: &bytes) {}
    return String(decoding: bytes, as: UTF8.self)
  }
}
