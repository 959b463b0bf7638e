import Glibc
import FormStreamTestSupport
import Testing

/// `formstream receive`: what is received, stored and reported.
@Suite struct ReceiveTests {
  @Test func `a form is stored, and a record describes it`() throws {
    let receiver = try Receiving("--into", "kept")
    try receiver.place.write("f.txt", "words\n")
    #expect(
      receiver.listening
        == #"{"schema":"formstream.listening/1","url":"\#(receiver.url)/","urls":[],"directory":"kept","directory_b64":null}"#
    )
    let result = try receiver.post(
      "--boundary", "B", "-F", "a=b", "--file", "f=f.txt", "--type", "text/x")
    #expect(result.exit == 0, "\(result.stderr)")
    let record =
      #"{"schema":"formstream.received/2","body_bytes":156,"complete":true,"parts":["#
      + #"{"index":0,"name":"a","filename":null,"content_type":null,"headers":[["Content-Disposition","form-data; name=\"a\""]],"#
      + #""size":1,"sha256":"3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d","value":"b","value_b64":null,"#
      + #""stored_as":null},"#
      + #"{"index":1,"name":"f","filename":"f.txt","content_type":"text/x","headers":[["Content-Disposition","form-data; name=\"f\"; filename=\"f.txt\""],["Content-Type","text/x"]],"#
      + #""size":6,"sha256":"ff646650bc064e5981d37e75caf62e8551f146dff3b8967dd9cf36d263480e3a","value":null,"value_b64":null,"#
      + #""stored_as":"f.txt"}],"error":null,"framing":"content-length","content_length":156,"time":"20"#
    #expect(result.output.hasPrefix(record), "\(result.output)")
    #expect(result.output.hasSuffix(#","method":"POST","target":"/","status":200}\#n"#))
    #expect(try receiver.record() + "\n" == result.output)
    #expect(try receiver.shell("cat kept/f.txt").output == "words\n")
    let end = try receiver.end()
    #expect((end.exit, end.output) == (0, ""))
    #expect(
      end.stderr == """
        formstream: Listening at \(receiver.url)/, storing files in "kept". Ctrl-C ends it.
        formstream: Ending: uploads in progress get 10 s to finish. A second signal ends them at once.
        formstream: Ended by SIGTERM.

        """)
  }

  @Test(arguments: [([], "a%22b"), (["--escaping", "browser"], "a\\\"b")])
  func `names are decoded by the given profile`(_ flags: [String], _ name: String) throws {
    let receiver = try Receiving(flags)
    try receiver.place.write("f", "abc")
    let result = try receiver.post("--file", "f=f", "--filename", "a\"b")
    #expect(result.output.contains("\"filename\":\"\(name)\""), "\(result.output)")
  }

  @Test func `without a directory nothing is stored, and a note says so`() throws {
    let receiver = try Receiving("--listen", "127.0.0.1:0")
    #expect(receiver.listening.hasSuffix(#","directory":null,"directory_b64":null}"#))
    try receiver.place.write("f", "abc")
    let result = try receiver.post("-F", "f=@f")
    #expect(result.output.contains(#""size":3,"#), "\(result.output)")
    #expect(result.output.contains(#""stored_as":null"#), "\(result.output)")
    #expect(try receiver.names(in: ".") == ["f"])
    #expect(try receiver.end().stderr.contains("Nothing is stored: --into DIR names a directory"))
  }

  /// Shell commands that send the file `big`.
  @Test(arguments: [
    "post -F f=@big -F t=v", "post --file f=big --filename n --type a/b", "post -T big",
    "put -T big", "put -T - < big", "post -F 'f=@-;filename=n' < big",
    "post -H 'Content-Type: application/x-www-form-urlencoded' --data-urlencode f@big",
    "post -H 'Content-Type: a/b' --data-binary @big", "post --expect always -F f=@big",
    "post --expect never --browser-text -F f=@big",
  ])
  func `each kind of body is stored byte for byte`(_ line: String) throws {
    let receiver = try Receiving("--into", "kept")
    try receiver.place.write("big", noise(3_000_001))
    let result = try receiver.shell(
      "$F \(line.replacing(" <", with: " $U/big <"))\(line.contains("<") ? "" : " $U/big")")
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(try receiver.record() + "\n" == result.output)
    let sums = try receiver.shell("sha256sum < big; cd kept; sha256sum < $(ls -A)").output
      .split(separator: "\n").map { $0.prefix(64) }
    #expect(sums.count == 2 && sums[0] == sums[1], "\(sums) \(result.output)")
    #expect(result.output.contains(#""size":3000001,"sha256":"\#(sums[0])""#), "\(result.output)")
  }

  @Test func `a file whose name is taken gets a number, or replaces the other`() throws {
    let receiver = try Receiving("--into", "kept")
    let other = try Receiving("--into", "kept", "--overwrite", in: receiver.place)
    for (text, to) in [("one", receiver), ("two", receiver), ("three", other)] {
      let result = try to.post("--field", "x=", "-F", "f=\(text);filename=../up/a.txt")
      #expect(result.exit == 0, "\(result.stderr)")
    }
    #expect(
      try receiver.shell("grep -H . kept/*").output == "kept/a-2.txt:two\nkept/a.txt:three\n")
    #expect(try receiver.names(in: ".") == ["kept"])
  }

  @Test func `--keep-paths keeps directories, below the directory`() throws {
    let receiver = try Receiving("--into", "kept", "--keep-paths")
    _ = try receiver.post("-F", "f=x;filename=../../a/b/c.txt", "-F", "g=y;filename=/etc/d")
    _ = try receiver.shell("printf z > e; $F put -T e $U/p/q%2F..%2Fr")
    #expect(
      try receiver.shell("find kept -type f | sort").output
        == "kept/a/b/c.txt\nkept/etc/d\nkept/p/q/r\n")
  }

  @Test func `--keep-paths keeps the innermost 32 directories`() throws {
    let receiver = try Receiving("--into", "kept", "--keep-paths")
    let name = (0..<40).map { "d\($0)" }.joined(separator: "/") + "/f"
    _ = try receiver.post("-F", "f=x;filename=\(name)")
    let kept = (8..<40).map { "d\($0)" }.joined(separator: "/")
    #expect(try receiver.shell("find kept -type f").output == "kept/\(kept)/f\n")
  }

  @Test func `no digest is computed with --no-digest`() throws {
    let receiver = try Receiving("--no-digest")
    #expect(try receiver.post("-F", "a=b").output.contains(#""size":1,"sha256":null,"value":"b""#))
  }

  @Test func `a form over a limit is refused`() throws {
    let receiver = try Receiving("--limit", "parts=2", "--limit", "header-block=200")
    #expect(try receiver.post("-F", "a=b", "-F", "c=d").exit == 0)
    for flags in [["-F", "e=f"], ["--filename", String(repeating: "n", count: 300)]] {
      let result = try run(
        "formstream", ["post", "-F", "a=b", "-F", "c=d"] + flags + ["--json", receiver.url])
      #expect(result.exit == 1)
      #expect(result.output.contains(#""status":413"#), "\(result.output)")
      #expect(result.output.contains("limit-exceeded"), "\(result.output)")
    }
  }

  @Test(arguments: [["--max-body", "1K"], ["--limit", "body=1024"]])
  func `a body that is too large is refused, whether it announces its length or not`(
    _ flags: [String]
  ) throws {
    let receiver = try Receiving(flags + ["--into", "kept"])
    try receiver.place.write("fits", noise(1024))
    try receiver.place.write("over", noise(1025))
    try receiver.place.write("far-over", noise(3_000_000))
    let result = try receiver.shell(
      """
      \(curl) -T fits $U; \(curl) -T - $U < fits
      for f in over far-over; do
        \(curl) -T $f $U; \(curl) -T - $U < $f; \(curl) -F f=@$f $U
        for from in -T$f -T-; do
          $F put --json $from $U/ < $f | grep -o '"status":[0-9]*'
        done
      done
      grep -c 'body-too-large' answer
      """)
    let refused = #"413\#n413\#n413\#n"status":413\#n"status":413\#n"#
    #expect(
      result.output == "200\n200\n\(refused)\(refused)1\n", "\(result.output) \(result.stderr)")
    #expect(try receiver.names(in: "kept").count == 2)
  }

  @Test func `flags can come from a file`() throws {
    let place = try TemporaryDirectory()
    try place.write(
      "c", "--listen 127.0.0.1:0\n--into my files\n--keep-paths\n--min-rate 10K\n--json\n")
    let receiver = try Receiving(shell: "$F receive --config c", in: place)
    #expect(receiver.listening.contains(#""directory":"my files""#))
    #expect(try receiver.post("-F", "a=b").exit == 0)
  }

  @Test func `the page is served, and only refusals are reported`() throws {
    let receiver = try Receiving("--into", "kept")
    #expect(
      try receiver.shell("\(curl) $U; \(curl) $U/x; \(curl) -X DELETE $U").output
        == "200\n404\n405\n")
    #expect(try receiver.record().contains(#""code":"not-found""#))
    #expect(try receiver.record().contains(#""code":"method-not-allowed""#))
  }
}
