import FormStreamTestSupport
import Testing

/// Progress on a terminal, which `script` provides.
@Suite struct ProgressTests {
  @Test func `the bar fits the terminal, and a line and the response stay`() throws {
    let server = try ScriptedServer { _ in .good(body: "hello\n") }
    let result = try shell(
      """
      mkfifo pipe; touch seen; export TERM=xterm NO_COLOR=1
      post="$F post --read-ahead 0 --field title=Sunset --file photo=pipe --type a/b \(server.url)"
      script -qefc "stty cols 30; $post" seen > all 2>&1 &
      exec 3> pipe; printf 12345 >&3
      until grep -q '(2 of 2)' seen; do sleep 0.01; done
      exec 3>&-; wait $!; echo $?; cat all
      """)
    let lines = result.output.replacing("\r\n", with: "\n").split(separator: "\n")
    #expect(lines.first == "0", "\(result.output)")
    let bar = try #require(lines.first { $0.contains("(2 of 2)") })
    let draws = bar.split(separator: "\r")
    let texts = draws.dropLast().map {
      $0.trimmingPrefix("\u{1B}[?7l").split(separator: "\u{1B}[J\u{1B}[?7h")
    }
    #expect(texts.allSatisfy { $0.count == 1 && $0[0].count < 30 }, "\(draws)")
    #expect(draws.last?.hasPrefix("\u{1B}[Jformstream: ") == true, "\(draws)")
    #expect(draws.last?.contains("%") == false, "\(draws)")
    #expect(lines.last == "hello", "\(result.output)")
  }

  /// `set -m`: otherwise the shell's background jobs ignore SIGINT.
  @Test func `after Ctrl-C the cursor is on a new line`() throws {
    let server = try ScriptedServer { _ in [.readBody, .stall] }
    let result = try shell(
      """
      set -m
      mkfifo keys; touch seen; export TERM=xterm
      script -qefc "$F post -v -d a \(server.url)" seen < keys > all 2>&1 &
      exec 3> keys
      until grep -q 'waiting for the response' seen; do sleep 0.01; done
      printf '\\003' >&3; wait $!; echo $?; cat all
      """)
    #expect(result.output.hasPrefix("130\n"), "\(result.output)")
    #expect(result.output.hasSuffix("\r\n"), "\(result.output)")
    // No trace line follows the bar on the same line.
    let lines = result.output.replacing("\r\n", with: "\n").split(separator: "\n")
    for line in lines where line.contains("> POST") || line.contains("formstream: ") {
      let text = line.split(separator: "\r").last ?? ""
      #expect(["> ", "formstream: ", "\u{1B}[J"].contains { text.hasPrefix($0) }, "\(line)")
    }
  }

  /// Regression: a form with a file was said to have none, before it was laid out and if it was compressed.
  @Test func `how many files a form has is unknown until its parts are known`() throws {
    let server = try ScriptedServer { _ in .good() }
    for (flags, first, last) in [
      (["-F", "a=@/etc/passwd"], "null", "1"), (["-d", "a=b"], "0", "0"),
      (["--compressed-upload", "gzip", "-F", "a=@/etc/passwd"], "null", "null"),
    ] {
      let result = try run(
        "formstream", ["post", "--progress", "json"] + flags + [server.url])
      let records = result.stderr.split(separator: "\n").filter { $0.hasPrefix("{") }
      #expect(records.first?.contains("\"files_total\":\(first),") == true, "\(records)")
      #expect(records.last?.contains("\"files_total\":\(last),") == true, "\(records)")
    }
  }
}
