import Glibc
import FormStreamTestSupport
import Testing

/// Many at once, and programs that are killed. `Tests/Long/receiving.py` does the same for longer.
@Suite struct ReceiveManyTests {
  /// Makes so many files of a little more than `size` bytes in `sent`, and their digests in `sums`.
  private static func making(_ count: Int, of size: Int) -> String {
    """
    mkdir -p sent
    for i in {1..\(count)}; do head -c $((\(size) + i)) /dev/urandom > sent/$i; done
    (cd sent; sha256sum * > ../sums)
    """
  }

  @Test(arguments: ["curl -sS -F f=@sent/N $U", "$F post -F f=@sent/N $U", "$F put -T sent/N $U/"])
  func `many uploads at once all come in whole`(_ client: String) throws {
    let receiver = try Receiving("--into", "kept")
    let said = try receiver.shell(
      """
      \(Self.making(40, of: 100_000))
      ls sent | xargs -P 8 -I N sh -c '\(client)' > records
      cd kept; sha256sum --quiet -c ../sums && ls -A | wc -l
      """)
    #expect(said.output == "40\n", "\(said.output) \(said.stderr)")
    let records = try receiver.shell("sort records").output
    #expect(
      try receiver.end().output.split(separator: "\n").sorted() == records.split(separator: "\n"))
  }

  @Test
  func `a receiver that is killed leaves no file that is not whole, and nobody was told else`()
    throws
  {
    var generator = SeededSequence(seed: 9)
    for _ in 0..<10 {
      let receiver = try Receiving("--into", "kept")
      let wanted = Int.random(in: 0..<20, using: &generator)
      let said = try receiver.shell(
        """
        \(Self.making(20, of: 100_000))
        for i in {1..20}; do curl -sS -f --limit-rate 1M -o told-$i -F f=@sent/$i $U 2> /dev/null || rm -f told-$i & done
        until [ $(ls kept | wc -l) -ge \(wanted) ]; do :; done
        kill -9 \(receiver.pid)
        wait
        cd kept
        for file in *; do
          [ ! -e $file ] || grep -qx "$(sha256sum $file)" ../sums || echo "$file is not whole"
        done
        for told in ../told-*; do
          [ ! -e $told ] || [ -e ${told#../told-} ] || echo "$told is lost"
        done
        ls -A | grep -v -e '^.formstream-' -e '^[0-9]*$'
        """)
      #expect(said.output == "", "\(said.stderr)")
      #expect(try receiver.wait().signal == SIGKILL)
    }
  }

  @Test func `clients that are killed leave nothing behind`() throws {
    let receiver = try Receiving("--into", "kept")
    let count =
      "echo $(ls /proc/\(receiver.pid)/fd | wc -l) $(ls /proc/\(receiver.pid)/task | wc -l)"
    let before = try receiver.shell(count).output
    for number in 0..<20 {
      do {
        let held = try RawClient.uploading(to: receiver, size: 2_000_000, sent: number * 9_999 + 1)
        try receiver.wait(for: 1, in: "kept")
        withExtendedLifetime(held) {}
      }
      #expect(try receiver.record().contains(#""code":"connection-lost""#))
      #expect(try receiver.names(in: "kept") == [])
    }
    _ = try receiver.shell(
      "until [ \"$(\(count))\" = '\(before.dropLast())' ]; do sleep 0.01; done")
    #expect(try receiver.post("-d", "a=b").exit == 0)
  }
}

/// No flag without a test, and what the help shows, tried.
@Suite struct ReceiveFlagTests {
  @Test func `every flag in the help is used in a test of receive`() throws {
    let directory = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
    let sources = try shell("cat \(directory)/Receive*Tests.swift").output
    let general = ["config", "generate", "help", "version", "quiet"]
    for line in try formstream("receive", "--help").output.split(separator: "\n")
    where line.hasPrefix("  -") || line.hasPrefix("      --") {
      let name = line.split(separator: "--").dropFirst().first?.split(separator: " ").first ?? ""
      if general.contains(String(name)) { continue }
      #expect(sources.contains("--\(name)"), "\(name) is in no test")
    }
  }

  @Test func `the examples in the help do what they say`() throws {
    let examples = try formstream("receive", "--help").output.split(separator: "\n")
      .filter { $0.hasPrefix("  formstream receive ") }
    #expect(examples.count == 3)
    for example in examples {
      let place = try TemporaryDirectory()
      try place.write("token", "t\n")
      // The ports of the examples may be taken here.
      let line = example.replacing("formstream", with: "$F").replacing(":8080", with: ":0")
      let port = line.contains("--listen") ? "" : "--listen 0"
      let receiver = try Receiving(shell: "\(line) \(port) 2>&1", in: place)
      let isListening = receiver.listening.contains("Listening at") ? receiver : nil
      #expect(
        isListening != nil || receiver.listening.contains("listening/1")
          || receiver.listening.contains("formstream: "))
      #expect(try receiver.end().exit == 143)
    }
  }
}
