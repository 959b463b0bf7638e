import FormStreamTestSupport
import Testing

/// `formstream receive` with readers of its output that are slow, and with few descriptors.
@Suite struct ReceiveLoadTests {
  /// Makes the flags of a form with `count` fields, in the file `form`.
  private static func makingForm(_ count: Int) -> String {
    "for i in {1..\(count)}; do echo \"form=field$i=value of $i\"; done > form"
  }

  /// Regression: lines of several connections were mixed, as soon as the pipe was full.
  @Test func `lines of many uploads at once are complete, and equal the responses`() throws {
    let receiver = try Receiving()
    // The pipe holds a few of these records, and is read only after all responses.
    let result = try receiver.shell(
      """
      \(Self.makingForm(200))
      for i in {1..24}; do curl -sS -K form -o record-$i "$U/?n=$i" & done
      wait
      cat record-* | sort > records
      wc -l < records
      """)
    #expect(result.output == "24\n", "\(result.stderr)")
    let lines = try receiver.end().output
    try receiver.place.write("lines", lines)
    #expect(try receiver.shell("sort lines | cmp - records && echo same").output == "same\n")
  }

  /// Regression: the receiver hung, and its end too. This takes some ten seconds.
  @Test func `if nobody reads its output, uploads are refused with 503, and it ends`() throws {
    let place = try TemporaryDirectory()
    let result = try run(
      program: "/bin/bash",
      [
        "-c",
        """
        \(Self.makingForm(2000))
        mkfifo output
        exec 3<> output
        $F receive --json --listen 0 --into kept > output 2> errors &
        until U=$(grep -o 'http://[^,/]*' errors); do sleep 0.01; done
        for i in {1..100000}; do
          status=$(curl -sS -m 30 -K form -F "f=x;filename=$i" -o response -w '%{http_code}' $U)
          case $status in 200) stored=$i;; *) break;; esac
        done
        echo $status; grep -o '"code":"[a-z]*"' response
        [ $(ls kept | wc -l) = $stored ] && echo all are stored
        kill $!; wait $!; echo $?
        tail -n 1 errors | sed 's/[0-9][0-9]* lines/N lines/'
        """,
      ], in: place, environment: ["F": builtBinary("formstream")])
    #expect(
      result.output == """
        503
        "code":"overloaded"
        all are stored
        74
        formstream: Standard output was not read: N lines about requests are lost.

        """, "\(result.stderr)")
  }

  /// Regression: uploads failed with 503, because other connections had taken all descriptors. And it crashed at its
  /// end, because a task needs descriptors.
  @Test func `with few descriptors fewer uploads run at once, and all of them finish`() throws {
    let receiver = try Receiving(
      shell: "bash -c 'ulimit -n 64; exec $F receive --json --listen 0 --into kept --min-rate 0'")
    let held = try (0..<50).map {
      try RawClient.uploading(to: receiver, "/\($0)", size: 10, sent: 5)
    }
    try receiver.wait(for: 5, in: "kept")
    for client in held.prefix(30) {
      try client.send("12345")
      #expect(try client.receive(upTo: "\r\n") == "HTTP/1.1 200 OK\r\n")
      client.close()
    }
    for client in held { client.close() }
    let end = try receiver.end()
    #expect(end.exit == 0, "\(end)")
    #expect(try receiver.names(in: "kept").count >= 30)
  }

  /// Regression: they failed with 503, or even 404. A form that is resumable has more files open when it is processed.
  @Test func `with few descriptors fewer resumable forms run at once, and all of them finish`()
    throws
  {
    let receiver = try Receiving(
      shell: "bash -c 'ulimit -n 64; exec $F receive --json --listen 0 --into kept --min-rate 0 --sync'"
    )
    let open = try #require(
      Int(receiver.shell("ls /proc/\(receiver.pid)/fd | wc -l").output.dropLast()))
    let part =
      "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x\"\r\n\r\n"
      + String(repeating: "x", count: 12_000) + "\r\n"
    let form = String(repeating: part, count: 100) + "--b--\r\n"
    var served: [RawClient] = []
    for _ in 0..<30 {
      let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
      try client.send(
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; boundary=b\r\nUpload-Complete: ?1\r\n"
          + "Upload-Draft-Interop-Version: 8\r\nContent-Length: \(form.utf8.count)\r\n\r\n")
      guard client.canReceive(within: .seconds(1)) else { break }
      #expect(try client.receiveResponse()?.status == 104)
      served.append(client)
    }
    // Each needs three: its connection, its body, and a file that is stored. A few are left for their states.
    #expect(served.count > 0 && open + 3 * served.count <= 56, "\(open), \(served.count)")
    for client in served { try client.send(Array(form.utf8.dropLast())) }
    for client in served { try client.send("\n") }
    for client in served {
      var response = try client.receiveResponse()
      // It may have been told how much has arrived.
      while response?.status == 104 { response = try client.receiveResponse() }
      #expect(response?.status == 200, "\(String(describing: response))")
    }
    try receiver.end()
  }

  /// Regression: the thread that accepts connections spun.
  @Test func `while no descriptor is left, accepting is tried a few times a second`() throws {
    let place = try TemporaryDirectory()
    let receiver = try Receiving(
      shell:
        "strace -f -qq -o trace -e trace=accept4 -e inject=accept4:error=EMFILE $F receive --json --listen 0",
      in: place)
    _ = try receiver.shell("curl -sS -m 2 $U")
    let count = try receiver.shell("grep -c EMFILE trace").output
    let tries = try #require(Int(count.dropLast()))
    #expect((1...100).contains(tries))
    receiver.signal(15)
  }
}
