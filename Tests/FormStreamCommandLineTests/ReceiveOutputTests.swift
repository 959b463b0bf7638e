import Glibc
import FormStreamTestSupport
import Testing

/// What `formstream receive` prints for people and scripts, and what happens if it can't be written.
@Suite struct ReceiveOutputTests {
  /// Times and client ports are replaced before comparing.
  @Test func `each request is reported in a line`() throws {
    let receiver = try Receiving(shell: "$F receive --listen 0 --into kept 2>&1")
    #expect(
      receiver.listening
        == "formstream: Listening at \(receiver.url)/, storing files in \"kept\". Ctrl-C ends it.")
    _ = try receiver.post("-F", "a=b", "-F", "f=x;filename=n", "-F", "f=y;filename=n")
    _ = try receiver.shell(
      "printf abc | $F put -T - $U/p/q; \(curl) -H Content-Encoding:gzip -d a=b $U/z")
    let lines = try (0..<3).map { _ in
      try receiver.record().replacing(
        #/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z 127\.0\.0\.1:\d+ /#, with: ""
      ).replacing(#/in \d+ ms/#, with: "in 0 ms")
    }
    #expect(
      lines[0].hasPrefix("POST / 200 4") && lines[0].hasSuffix(" B in 0 ms, 3 parts: a=b, n, n-2"),
      "\(lines)")
    #expect(lines[1] == "PUT /p/q 200 3 B in 0 ms, 1 part: q")
    #expect(
      lines[2].hasPrefix("POST /z 415 encoding-unsupported: The Content-Encoding"), "\(lines)")
    #expect(
      try receiver.end().output
        == "formstream: Ending: uploads in progress get 10 s to finish. A second signal ends them at once.\n"
        + "formstream: Ended by SIGTERM.\n")
  }

  @Test func `a line shows the starts of a few text fields`() throws {
    let receiver = try Receiving(shell: "$F receive --listen 0 --into kept 2>&1")
    let long = String(repeating: "ä", count: 99)
    _ = try receiver.post("--field", "title=Sunset", "--field", "a=b\nc", "--field", "l=\(long)")
    #expect(
      try receiver.record().hasSuffix(
        #", 3 parts: title=Sunset, a=b\u{A}c, l=\#(long.prefix(37))…"#))
    _ = try receiver.shell("$F post $(for i in {1..11}; do echo -F f=$i; done) $U")
    #expect(
      try receiver.record().hasSuffix(
        ", 11 parts: f=1, f=2, f=3, f=4, f=5, f=6, f=7, f=8, and 3 more"))
  }

  /// Regression: they were masked in the target only.
  @Test func `a line does not show fields whose names suggest secrets`() throws {
    let receiver = try Receiving(shell: "$F receive --listen 0 --into kept 2>&1")
    for form in ["-F password=hunter2 -F a=b", "-d 'password=hunter2&a=b'"] {
      _ = try receiver.shell("\(curl) \(form) $U")
      let record = try receiver.record()
      #expect(record.hasSuffix(": password=***, a=b"), "\(record)")
    }
  }

  /// Regression: 1.05 s was "2 s".
  @Test func `a line has the time that has passed, not rounded up`() throws {
    let receiver = try Receiving(shell: "$F receive --listen 0 --into kept --delay 1 2>&1")
    _ = try receiver.shell("\(curl) -d a=b $U")
    let record = try receiver.record()
    #expect(record.contains(/\ in [1-9]\.[0-9] s, 1 part/), "\(record)")
  }

  @Test func `nothing that clients send reaches a terminal raw`() throws {
    let receiver = try Receiving(shell: "$F receive --listen 0 --into kept --keep-paths 2>&1")
    let result = try receiver.shell(
      """
      name=$(printf '\\x1b[2J\\xe2\\x80\\xae\\xc2\\x9b.txt')
      $F post -F "f=x;filename=a$name/$name" --field "t$name=$name" $U > answer
      exec 3<> /dev/tcp/127.0.0.1/\(receiver.port)
      printf 'POST /\\x1b]0;x\\x07\\xe2\\x80\\xae HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 0\\r\\n\\r\\n' >&3
      head -n 1 <&3
      exec 4<> /dev/tcp/127.0.0.1/\(receiver.port)
      printf 'DE\\x1b[1mL / HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n' >&4
      cat <&4 > answer
      """)
    #expect(result.output == "HTTP/1.1 400 Bad Request\r\n", "\(result.stderr)")
    let all = try receiver.record() + receiver.record() + receiver.end().output
    #expect(all.contains(#"POST /\u{1B}]0;x\u{7}\u{202E} 400 bad-request: "#), "\(all)")
    #expect(
      all.unicodeScalars.allSatisfy {
        $0 == "\n" || $0.properties.generalCategory != .control && $0 != "\u{202E}"
      },
      "\(all)")
  }

  @Test func `-q prints no notes, and standard output holds only records`() throws {
    let receiver = try Receiving("-q")
    _ = try receiver.post("-d", "a=b")
    #expect(try receiver.record().hasPrefix(#"{"schema":"formstream.received/2","#))
    _ = try receiver.shell("\(curl) $U")
    let end = try receiver.end(SIGINT)
    #expect((end.signal, end.output) == (SIGINT, ""))
    #expect(end.stderr.isEmpty, "\(end.stderr)")
  }

  @Test(arguments: [
    (">&-", "could not be written"), ("> /dev/full", "No space left"),
    ("| true", "closed by its reader"),
  ])
  func `if records can't be written, it does not start`(_ redirection: String, _ says: String)
    throws
  {
    let result = try shell(
      "until ! kill -0 $! 2> /dev/null; do :; done; $F receive --listen 0 --json \(redirection); echo ${PIPESTATUS[0]} >&2"
    )
    #expect(result.stderr.hasSuffix("74\n"), "\(result.stderr)")
    #expect(result.stderr.contains(says), "\(result.stderr)")
  }

  /// Regression: who could fill the disk could end the receiver for everybody. The files are stored and the clients get their
  /// responses, but the lines about them are lost, which is a failure in the end.
  @Test func `if a line can't be written, uploads go on`() throws {
    let receiver = try Receiving(shell: "$F receive --listen 0 --into kept 2>&1 > /dev/full")
    let held = try RawClient.uploading(to: receiver, size: 20, sent: 10)
    try receiver.wait(for: 1, in: "kept")
    let result = try receiver.post("--json", "-F", "f=x;filename=n")
    #expect(result.output.contains(#""status":200"#), "\(result.output)")
    #expect(try receiver.record().contains("Standard output has no room for lines about requests"))
    try held.send("0123456789")
    held.closeWrite()
    #expect(try held.response().hasPrefix("HTTP/1.1 200 OK\r\n"))
    let end = try receiver.end()
    #expect(end.exit == 74, "\(end)")
    #expect(
      end.output.contains("Standard output could not be written: No space left"), "\(end.output)")
    #expect(end.output.contains("2 lines about requests are lost."), "\(end.output)")
    #expect(try receiver.shell("cat kept/n kept/held").output == "xxxxxxxxxxx0123456789")
  }

  /// Lines wait, and beyond that are counted. No line is cut.
  @Test(
    .enabled(if: SmallDisk.isAllowed, "a file system can't be mounted here"),
    arguments: [true, false])
  func `when there is room again, the log says how many lines are lost`(_ asRecords: Bool) throws {
    let place = try TemporaryDirectory()
    let mount = try shell(
      "mkdir log && mount -t tmpfs -o size=4m tmpfs log", in: place)
    #expect(mount.exit == 0, "\(mount.stderr)")
    defer { _ = try? shell("umount --lazy log", in: place) }
    let receiver = try Receiving(
      shell: "$F receive --listen 0 --into kept \(asRecords ? "--json" : "") 2>&1 > log/lines", in: place)
    let waiting = 100
    let result = try receiver.shell(
      """
      path=$(head -c 4000 /dev/zero | tr '\\0' x)
      \(curl) -F a=first $U
      head -c 9M /dev/zero > log/fill 2> /dev/null
      for i in {1..\(waiting)}; do \(curl) -F a=b $U/$path; done | sort | uniq -c | sed 's/^ *//'
      rm log/fill
      for i in {1..500}; do
        \(curl) -F a=last$i $U > code; grep -qs 'lost' log/lines && break; sleep 0.02
      done; echo $i
      \(curl) -F a=final $U > code; until grep -qs final log/lines; do sleep 0.02; done
      wc -l < log/lines; grep -o 'lines":[0-9]*\\|[0-9]* lines\\? about' log/lines | grep -o '[0-9]*'
      grep -vc '\(asRecords ? "^{.*}$" : "^20[^ ]*Z .*[a-z0-9.]$")' log/lines
      """)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 6 && lines[1] == "\(waiting) 200", "\(lines) \(result.stderr)")
    let numbers = lines.dropFirst(2).map { Int($0) ?? -1 }
    // Each request has a line, or is counted in the line about the loss. Records begin with one about the receiver.
    #expect(
      numbers[1] + numbers[2] == (asRecords ? 4 : 3) + waiting + numbers[0], "\(lines)")
    #expect(numbers[2] > 0 && numbers[3] == 0, "\(lines)")
    let end = try receiver.end()
    #expect(end.exit == 74 && end.output.contains("has room again."), "\(end)")
  }
}

/// `--once`.
@Suite struct ReceiveOnceTests {
  @Test
  func `--once ends after the first accepted upload, and its client gets the complete response`()
    throws
  {
    let place = try TemporaryDirectory()
    try place.write("token", "t")
    let receiver = try Receiving(
      "--once", "--into", "kept", "--max-body", "1M", "--token-file", "token", in: place)
    let result = try receiver.shell(
      """
      head -c 2000000 /dev/zero > large
      \(curl) $U; \(curl) -u :t $U; \(curl) -d a=b $U; \(curl) -u :t -T large $U; \(curl) -u :t -X DELETE $U
      \(curl) -u :t -d a=b -H Content-Type:multipart/form-data $U
      $F post --token-file token -F f=@token $U
      """)
    let codes = result.output.split(separator: "\n")
    #expect(codes.prefix(6) == ["401", "200", "401", "413", "405", "400"], "\(result.output)")
    let end = try receiver.wait()
    #expect(end.exit == 0, "\(end.stderr)")
    #expect(end.output.split(separator: "\n").last == codes.last, "\(end.output)")
    #expect(try receiver.names(in: "kept") == ["token"])
    #expect(try receiver.shell("\(curl) $U; echo $?").output == "000\n7\n")
  }

  /// The response is larger than a socket buffer, and is sent over TLS too.
  @Test func `a long response that is read slowly is not cut`() throws {
    let made = try TestCertificates()
    for tls in [[], ["--tls-cert", made.server.certificate, "--tls-key", made.server.key]] {
      let receiver = try Receiving(["--once", "--limit", "all-headers=1M"] + tls)
      let result = try receiver.shell(
        "for i in {1..9999}; do echo \"-F a=$i\"; done > c; \(curl) -k --limit-rate 2M -K <(sed 's/-F /form=/' c) $U; tail -c 9 answer"
      )
      let end = try receiver.wait()
      #expect(result.output == "200\n" + end.output.suffix(9), "\(result.stderr)")
      #expect(end.exit == 0)
    }
  }
}
