import FormStreamPlatform
import FormStreamTestSupport
import Glibc
import Testing

/// `--resumable` while the server is down. Regression: it gave up three seconds after the receiver was killed.
@Suite struct UploadOutageTests {
  private let place: TemporaryDirectory
  /// The port of a receiver that is killed and started again.
  private let port: ReservedPort

  init() throws {
    place = try TemporaryDirectory()
    port = try ReservedPort()
  }

  /// The reset questions are more than the attempts that were made before.
  private func server(silentFor questions: Int) throws -> ScriptedServer {
    let (silent, broken) = (Guarded(questions), Guarded(false))
    return try ScriptedServer { request in
      switch request.method {
      case "POST": return [.readBody, .respond(201, headers: [("Location", "/u")])]
      case "HEAD":
        let isSilent = silent.withLock {
          $0 -= 1
          return $0 >= 0
        }
        return [isSilent ? .reset : .respond(200, headers: [("Upload-Offset", "0")])]
      default:
        let isFirst = broken.withLock { isBroken in
          defer { isBroken = true }
          return !isBroken
        }
        return [.readBody, isFirst ? .reset : .respond(204, headers: [("Upload-Offset", "3")])]
      }
    }
  }

  private let line = " Trying for 5 more minutes, because the upload can go on."

  @Test func `an upload waits for its server, and one line says so`() throws {
    let server = try server(silentFor: 12)
    let result = try formstream("post", "--resumable=tus", "--retry-delay", "0.01", "-d", "abc", server.url, in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    let lines = result.stderr.split(separator: "\n")
    #expect(lines.count == 2 && lines[0].hasSuffix("(attempt 2).") && lines[1].hasSuffix(line), "\(lines)")
    #expect(server.requests.filter { $0.method == "HEAD" }.count == 13)
  }

  @Test func `--retry still insists`() throws {
    let server = try server(silentFor: 12)
    let result = try formstream(
      "post", "--resumable=tus", "--retry", "3", "--retry-delay", "0.01", "-d", "abc", server.url, in: place)
    #expect(result.exit == 3 && !result.stderr.contains(line), "\(result.stderr)")
    #expect(server.requests.map(\.method) == ["POST", "PATCH", "HEAD", "HEAD", "HEAD"])
  }

  /// The message said that the upload can go on, although nothing kept its state, and not which limit had ended the wait.
  @Test func `the message at the end of the wait names the limit, and what lets the upload go on`() throws {
    let server = try ScriptedServer { request in
      request.method == "POST" ? [.readBody, .respond(201, headers: [("Location", "/u")])] : [.reset]
    }
    // The first wait would end after the limit, so nothing is waited for.
    let words = [
      "post", "--resumable=tus", "--expect", "always", "--retry-delay", "300", "--retry-max-time", "100", "-d", "abc",
      server.url,
    ]
    let lost = try FormStreamTestSupport.run("formstream", words, in: place)
    #expect(lost.exit == 75 && lost.stderr.contains("100 s after the first (--retry-max-time)"), "\(lost.stderr)")
    #expect(lost.stderr.contains("--resume-file") && !lost.stderr.contains("can go on later"), "\(lost.stderr)")
    let kept = try FormStreamTestSupport.run("formstream", words + ["--resume-file", "r"], in: place)
    #expect(kept.exit == 75 && kept.stderr.contains("can go on later"), "\(kept.stderr)")
  }

  @Test func `Ctrl-C ends the wait, and keeps the resume file`() throws {
    let server = try server(silentFor: .max)
    let words = "exec $F post --resumable=tus --resume-file resume -d abc \(server.url) 2> messages"
    let program = try RunningProgram(
      program: "/bin/bash", rawArguments: ["-c", words].map { Array($0.utf8) }, in: place,
      environment: ["F": builtBinary("formstream")])
    let wait = "for i in $(seq 6000); do grep -q 'upload can go on' messages && exit; sleep 0.01; done; exit 1"
    #expect(try shell(wait, in: place).exit == 0)
    program.signal(SIGINT)
    #expect(try program.wait().signal == SIGINT)
    #expect(try shell("tail -n 1 resume", in: place).output.contains(#""upload_url":"\#(server.url)/u""#))
  }

  /// Kills a receiver while `command` uploads `film` to it, and starts another one in its place when `until` holds, or the command has
  /// ended.
  private func run(_ command: String, until condition: String) throws -> Invocation {
    let receive = "receive --listen 127.0.0.1:\(port.number) --into kept"
    return try shell(
      """
      $F \(receive) > first 2>&1 & R=$!
      until grep -q Listening first || ! kill -0 $R 2> /dev/null; do sleep 0.01; done
      $F \(command) 2> messages & P=$!
      until [ "$(find kept/.formstream-uploads -type f -size +100k 2> /dev/null)" ] || ! kill -0 $P 2> /dev/null; do sleep 0.01; done
      kill -9 $R
      until \(condition) || ! kill -0 $P 2> /dev/null; do sleep 0.01; done
      $F \(receive) > second 2>&1 & R=$!
      wait $P; e=$?
      kill $R; wait $R
      cat messages >&2
      exit $e
      """, in: place)
  }

  @Test func `an upload goes on with a receiver that was killed and started again`() throws {
    try place.write("film", noise(3_000_000))
    let result = try run(
      "post -v --resumable --retry-delay 0.01 --limit-rate 1M -F film=@film http://127.0.0.1:\(port.number)/",
      until: "[ $(grep -c 'Trying again' messages) -ge 12 ]")
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(try shell("cmp film kept/film", in: place).exit == 0)
    #expect(result.stderr.split(separator: "\n").filter { $0.contains("Trying again") }.count >= 12)
  }

  /// The run was ended because nothing accepted connections, and the small files failed one by one.
  @Test func `send waits with all files, and one line says so`() throws {
    try place.write("film", noise(3_000_000))
    _ = try shell("mkdir small; for i in $(seq 60); do echo $i > small/$i; done", in: place)
    // A small file that the killed receiver had received completely would be `unknown`, so they begin after that.
    try place.write(
      "list",
      """
      echo film
      for i in $(seq 6000); do grep -q 'upload can go on' messages && break; sleep 0.01; done
      printf 'small/%s\\n' $(seq 60)
      touch listed
      """)
    let result = try run(
      "send -j 2 --resumable --retry-delay 0.05 --limit-rate 1M --files-from <(bash list) http://127.0.0.1:\(port.number)/",
      until: "[ -e listed ]")
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(try shell("cmp film kept/film; ls kept | wc -l", in: place).output == "61\n")
    #expect(result.stderr.split(separator: "\n").filter { $0.hasSuffix(line) }.count == 1, "\(result.stderr)")
  }
}
