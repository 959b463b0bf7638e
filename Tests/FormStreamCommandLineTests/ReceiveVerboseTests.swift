import FormStreamTestSupport
import Testing

/// `receive -v`: the heads of requests, and the sizes of their bodies.
@Suite struct ReceiveVerboseTests {
  /// The messages, without times and ports, one connection after the other: the receiver may write of the end of one while
  /// the next is being served.
  private func messages(_ receiver: Receiving) throws -> String {
    let lines = try receiver.end().stderr.split(separator: "\n")
    let peers = lines.map { line in
      line.split(separator: " ", maxSplits: 2).prefix(2).first { $0.hasPrefix("127.0.0.1:") } ?? ""
    }
    var order: [Substring] = []
    for peer in peers where !order.contains(peer) { order.append(peer) }
    let sorted = order.flatMap { peer in zip(lines, peers).filter { $0.1 == peer }.map { "\($0.0)\n" } }
    return sorted.joined().replacing(
      #/(?m)^(20[-0-9]+T[:.0-9]+Z )?127\.0\.0\.1:\d+ /#
    ) { $0.1 == nil ? "PEER " : "TIME PEER " }
  }

  @Test func `each head is shown, with the time, and how much of the body has arrived`() throws {
    let receiver = try Receiving("-v", "--max-body", "10")
    _ = try receiver.shell(
      """
      \(curl) -A me $U/page
      printf 0123456789 | \(curl) -A me -H 'X-Note: a b' -T - $U/up?a=b
      \(curl) -A me -H Expect: --data-binary 0123456789ab $U/large
      """)
    let cut = try RawClient.uploading(to: receiver, size: 9, sent: 4)
    _ = try receiver.record()
    _ = try receiver.record()
    _ = try receiver.record()
    cut.close()
    #expect(try receiver.record().contains("connection-lost"))
    let seen = try messages(receiver)
    let host =
      "PEER > Host: 127.0.0.1:\(receiver.port)\nPEER > User-Agent: me\nPEER > Accept: */*\n"
    #expect(seen.contains("TIME PEER > GET /page HTTP/1.1\n\(host)"), "\(seen)")
    #expect(
      seen.contains(
        "TIME PEER > PUT /up?a=b HTTP/1.1\n\(host)PEER > Transfer-Encoding: chunked\nPEER > X-Note: a b\n"
      ),
      "\(seen)")
    #expect(seen.contains("PEER > [body: 10 bytes, in chunks]\n"), "\(seen)")
    #expect(seen.contains(#/PEER > \[body: \d+ of 12 bytes\]\n/#), "\(seen)")
    #expect(
      seen.contains(
        "TIME PEER > PUT /held HTTP/1.1\nPEER > Host: a\nPEER > Content-Length: 9\nPEER > [body: 4 of 9 bytes]\n"
      ),
      "\(seen)")
  }

  /// Regression: the page's own requests have the URL that they go on with as a Referer, if a program sends them.
  @Test func `the URLs of uploads are masked, wherever they stand`() throws {
    let receiver = try Receiving("-v", "--into", "kept")
    let id = "0123456789abcdef0123456789abcdef"
    _ = try receiver.shell(
      """
      \(curl) -H 'Referer: http://h/.formstream-uploads/\(id)' -H 'X-Original-URL: /.formstream-uploads/\(id)?a' $U
      \(curl) -I $U/.formstream-uploads/\(id)
      \(curl) --request-target '/.formstream-uploads/\(id) x' -d a=b $U
      """)
    let end = try receiver.end()
    #expect(!(end.stderr + end.output).contains(id), "\(end)")
    #expect(end.stderr.contains("> Referer: http://h/.formstream-uploads/***\n"), "\(end.stderr)")
  }

  @Test func `secrets are masked, whether the request is accepted or refused`() throws {
    let place = try TemporaryDirectory()
    try place.write("token", "canary-1\n")
    let receiver = try Receiving("-v", "--token-file", "token", in: place)
    let result = try receiver.shell(
      """
      for auth in 'Bearer canary-1' 'Bearer canary-2' 'Basic Y2FuYXJ5OmNhbmFyeQ=='; do
        \(curl) -H "Authorization: $auth" -H 'Cookie: s=canary-3' -H 'X-Api-Key: canary-4' \
          -H 'Referer: http://canary-5:canary-6@h/?token=canary-7' -d a=b "$U/?sig=canary-8&x=shown"
      done
      """)
    #expect(result.output == "200\n401\n401\n")
    let seen = try messages(receiver)
    #expect(seen.matches(of: /PEER > Authorization: \*\*\*\n/).count == 3, "\(seen)")
    #expect(seen.contains("POST /?sig=***&x=shown HTTP/1.1\n"), "\(seen)")
    #expect(!seen.contains("canary") && !seen.contains("Y2FuY"), "\(seen)")
  }

  @Test func `nothing that steers a terminal gets through, not even in a head that is refused`()
    throws
  {
    let receiver = try Receiving("-v")
    let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
    try client.send(
      "POST /\u{1B}]0;x\u{7}\u{202E} HTTP/1.1\r\nHost: a\r\nX-A: \u{1B}[2J\u{9B}b\r\nContent-Length: 0\r\n\r\n"
    )
    #expect(try client.response().contains(" 400 "))
    let end = try receiver.end()
    #expect(end.stderr.contains(#"X-A: \u{1B}[2J\u{9B}b"#), "\(end.stderr)")
    #expect(
      end.stderr.unicodeScalars.allSatisfy {
        $0 == "\n" || $0.properties.generalCategory != .control && $0 != "\u{202E}"
      })
  }

  @Test func `without -v no head is shown`() throws {
    let receiver = try Receiving()
    _ = try receiver.post("-d", "a=b")
    #expect(try !messages(receiver).contains(" > "))
  }
}
