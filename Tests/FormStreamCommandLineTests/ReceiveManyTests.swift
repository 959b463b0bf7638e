import Glibc
import FormStreamTestSupport
import Testing

/// Many uploads at once, and processes that are killed. `Tests/Long/receiving.py` does the same for longer.
@Suite struct ReceiveManyTests {
  /// Makes `count` files of a little more than `size` bytes in `sent`, and their digests in `sums`.
  private static func making(_ count: Int, of size: Int) -> String {
    """
    mkdir -p sent
    for i in {1..\(count)}; do head -c $((\(size) + i)) /dev/urandom > sent/$i; done
    (cd sent; sha256sum * > ../sums)
    """
  }

  @Test(arguments: ["curl -sS -F f=@sent/N $U", "$F post -F f=@sent/N $U", "$F put -T sent/N $U/"])
  func `many uploads at once all arrive completely`(_ client: String) throws {
    let receiver = try Receiving("--into", "kept")
    let result = try receiver.shell(
      """
      \(Self.making(40, of: 100_000))
      ls sent | xargs -P 8 -I N sh -c '\(client)' > records
      cd kept; sha256sum --quiet -c ../sums && ls -A | wc -l
      """)
    #expect(result.output == "40\n", "\(result.output) \(result.stderr)")
    let records = try receiver.shell("sort records").output
    #expect(
      try receiver.end().output.split(separator: "\n").sorted() == records.split(separator: "\n"))
  }

  @Test
  func `a killed receiver leaves only complete files, and has reported no others`()
    throws
  {
    var generator = SeededSequence(seed: 9)
    for _ in 0..<10 {
      let receiver = try Receiving("--into", "kept")
      let wanted = Int.random(in: 0..<20, using: &generator)
      let result = try receiver.shell(
        """
        \(Self.making(20, of: 100_000))
        for i in {1..20}; do curl -sS -f --limit-rate 1M -o record-$i -F f=@sent/$i $U 2> /dev/null || rm -f record-$i & done
        until [ $(ls kept | wc -l) -ge \(wanted) ]; do :; done
        kill -9 \(receiver.pid)
        wait
        cd kept
        for file in *; do
          [ ! -e $file ] || grep -qx "$(sha256sum $file)" ../sums || echo "$file is incomplete"
        done
        for record in ../record-*; do
          [ ! -e $record ] || [ -e ${record#../record-} ] || echo "$record is lost"
        done
        ls -A | grep -v -e '^.formstream-' -e '^[0-9]*$'
        """)
      #expect(result.output == "", "\(result.stderr)")
      #expect(try receiver.wait().signal == SIGKILL)
    }
  }

  @Test func `clients that are killed leave nothing`() throws {
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

/// The examples in the help, tried.
@Suite struct ReceiveExampleTests {
  @Test func `the examples in the help work`() throws {
    let examples = try lines(inHelpOf: "receive")
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
      let end = try receiver.end()
      // With --once, an end without an upload is no success.
      #expect(line.contains("--once") ? end.signal == SIGTERM : end.exit == 0, "\(end.stderr)")
    }
  }
}
