import FormStreamTestSupport
import Glibc
import Testing

/// Resumable uploads to `formstream receive`.
@Suite struct ReceiveResumableTests {
  private static let size = 3 << 20

  /// A file of that size whose every 8 bytes are different.
  private static let body = (0..<size / 8).flatMap { number in
    Array(String(number + 10_000_000).utf8)
  }

  @Test(arguments: [1, 300_000, (3 << 20) - 1])
  func `an upload goes on after the receiver was killed`(_ sent: Int) throws {
    let place = try TemporaryDirectory()
    let path: String
    do {
      let receiver = try Receiving("--into", "kept", in: place)
      let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
      try client.send(
        "PUT /f HTTP/1.1\r\nHost: h\r\nContent-Length: \(Self.size)\r\nUpload-Complete: ?1\r\n"
          + "Upload-Draft-Interop-Version: 8\r\n\r\n")
      let interim = try #require(try client.receiveResponse())
      #expect(interim.status == 104)
      path = try #require(interim.values(of: "Location").first)
      try client.send(Array(Self.body.prefix(sent)))
      // How much of it is kept is another matter: the receiver says it later.
      _ = try receiver.shell(
        "until [ $(stat -c %s kept\(path)) -ge \(min(sent, 200_000)) ]; do sleep 0.01; done")
      receiver.signal(SIGKILL)
      _ = try receiver.wait()
    }
    let receiver = try Receiving("--into", "kept", in: place)
    let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
    try client.send("HEAD \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
    let head = try #require(try client.receiveResponse(toHEAD: true))
    let offset = try #require(head.values(of: "Upload-Offset").first.flatMap { Int($0) })
    #expect((1...sent).contains(offset))
    #expect(head.values(of: "Upload-Length") == ["\(Self.size)"])
    try client.send(
      "PATCH \(path) HTTP/1.1\r\nHost: h\r\nContent-Type: application/partial-upload\r\nUpload-Offset: \(offset)\r\n"
        + "Content-Length: \(Self.size - offset)\r\nUpload-Complete: ?1\r\n\r\n")
    try client.send(Array(Self.body.dropFirst(offset)))
    let response = try #require(try client.receiveResponse())
    #expect(response.status == 200, "\(response)")
    let digest = try receiver.shell("sha256sum < kept/f").output.prefix(64)
    try place.write("body", Self.body)
    #expect(try digest == receiver.shell("sha256sum < body").output.prefix(64))
    #expect(response.text.contains(#""sha256":"\#(digest)""#), "\(response)")
    #expect(try receiver.record() == response.text.dropLast())
    #expect(try receiver.names(in: "kept") == [".formstream-uploads", "f"])
    #expect(try receiver.shell("stat -c %a kept/f").output == "644\n")
    #expect(try receiver.end().exit == 0)
  }

  /// Regression: each request about an upload waited for the writes to all others.
  @Test func `a disk that is slow for one upload holds up no other`() throws {
    let place = try TemporaryDirectory()
    let paths: [String]
    do {
      let receiver = try Receiving("--into", "kept", in: place)
      paths = try (0..<2).map { _ in
        let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
        try client.send(
          "PUT /f HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nUpload-Length: 6\r\nUpload-Complete: ?0\r\n"
            + "Upload-Draft-Interop-Version: 8\r\n\r\n")
        return try #require(try client.receiveResponse()?.values(of: "Location").first)
      }
      try receiver.end()
    }
    // Writing to the first upload takes half a minute.
    let receiver = try Receiving(
      shell: """
        strace -D -f -qq -o /dev/null -P kept\(paths[0]) -e trace=write -e inject=write:delay_enter=30000000 \
          $F receive --json --listen 0 --into kept
        """, in: place)
    let slow = try RawClient(.ip("127.0.0.1", port: receiver.port))
    try slow.send(
      "PATCH \(paths[0]) HTTP/1.1\r\nHost: h\r\nContent-Type: application/partial-upload\r\nUpload-Offset: 0\r\n"
        + "Content-Length: 3\r\nUpload-Complete: ?0\r\n\r\nabc")
    _ = try receiver.shell(
      "until cat /proc/\(receiver.pid)/task/*/stat | grep -q ') t '; do sleep 0.01; done")
    let other = try RawClient(.ip("127.0.0.1", port: receiver.port))
    try other.send("HEAD \(paths[1]) HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try other.receiveResponse(toHEAD: true)?.status == 204)
    try other.send(
      "PUT /g HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nUpload-Length: 6\r\nUpload-Complete: ?0\r\n"
        + "Upload-Draft-Interop-Version: 8\r\n\r\n")
    #expect(try other.receiveResponse()?.status == 201)
    // The first upload's bytes are still not written.
    #expect(try receiver.shell("stat -c %s kept\(paths[0])").output == "0\n")
    // Without strace, the disk is fast again.
    _ = try receiver.shell(
      "kill -9 $(sed -n 's/^TracerPid:[[:space:]]*//p' /proc/\(receiver.pid)/status)")
    #expect(try slow.receiveResponse()?.status == 204)
    try receiver.end()
  }

  /// Regression: the file was closed before it got its name, and so looked like one that was left. A receiver that started in this
  /// moment made the file private for good, and said that the upload goes on.
  @Test func `a receiver that starts waits for a file that another gives its name`() throws {
    let place = try TemporaryDirectory()
    let first = try Receiving(
      shell: "strace -D -f -qq -o /dev/null -e trace=renameat2 -e inject=renameat2:delay_enter=60000000 "
        + "$F receive --json --listen 0 --into kept", in: place)
    let client = try RawClient(.ip("127.0.0.1", port: first.port))
    try client.send(
      "PUT /f HTTP/1.1\r\nHost: h\r\nContent-Length: 1048576\r\nUpload-Complete: ?1\r\n"
        + "Upload-Draft-Interop-Version: 8\r\n\r\n" + String(repeating: "x", count: 1 << 20))
    let path = try #require(try client.receiveResponse()?.values(of: "Location").first)
    // The state says that the file is about to be moved, and a thread stays in one call.
    _ = try first.shell(
      """
      until grep -q '"phase":"moving"' kept\(path).json; do sleep 0.01; done
      n=0; until [ $n = 10 ]; do
        if cat /proc/\(first.pid)/task/*/stat | grep -q ') t '; then n=$((n + 1)); else n=0; fi; sleep 0.01
      done
      """)
    let second = try Receiving("--into", "kept", in: place)
    let other = try RawClient(.ip("127.0.0.1", port: second.port))
    try other.send("HEAD \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try other.receiveResponse(toHEAD: true)?.status == 503)
    _ = try first.shell(
      "kill -9 $(sed -n 's/^TracerPid:[[:space:]]*//p' /proc/\(first.pid)/status)")
    var status = 104
    while status == 104 { status = try #require(try client.receiveResponse()).status }
    #expect(status == 200)
    #expect(try second.shell("stat -c %a kept/f").output == "644\n")
    try other.send("HEAD \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
    #expect(try other.receiveResponse(toHEAD: true)?.values(of: "Upload-Complete") == ["?1"])
    try first.end()
    try second.end()
  }

  /// Regression: an upload whose state could not be read for want of a descriptor, or because the disk failed, was unknown for
  /// good, so the client sent it again.
  @Test(arguments: [("openat", "EMFILE", 503), ("openat", "EIO", 500), ("read", "EIO", 500)])
  func `an upload that can't be opened at the start is found later`(
    _ call: String, _ error: String, _ status: Int
  ) throws {
    let place = try TemporaryDirectory()
    let path: String
    do {
      let receiver = try Receiving("--into", "kept", in: place)
      let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
      try client.send(
        "PUT /f HTTP/1.1\r\nHost: h\r\nContent-Length: 1048576\r\nUpload-Complete: ?1\r\n"
          + "Upload-Draft-Interop-Version: 8\r\n\r\n" + String(repeating: "x", count: 1 << 20))
      path = try #require(try client.receiveResponse()?.values(of: "Location").first)
      var status = 104
      while status == 104 { status = try #require(try client.receiveResponse()).status }
      #expect(status == 200)
      try receiver.end()
    }
    let receiver = try Receiving(
      shell: "strace -D -f -qq -o /dev/null -e trace=\(call) -P '\(path.dropFirst(21)).json' "
        + "-P '\(place.path)/kept\(path).json' -e inject=\(call):error=\(error) $F receive --json --listen 0 --into kept",
      in: place)
    let statuses = try (0..<2).map { attempt in
      if attempt == 1 {
        _ = try receiver.shell(
          "kill -9 $(sed -n 's/^TracerPid:[[:space:]]*//p' /proc/\(receiver.pid)/status)")
      }
      let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
      try client.send(
        "PATCH \(path) HTTP/1.1\r\nHost: h\r\nContent-Type: application/partial-upload\r\nUpload-Offset: 1048576\r\n"
          + "Content-Length: 0\r\nUpload-Complete: ?1\r\n\r\n")
      return try client.receiveResponse()?.status
    }
    #expect(statuses == [status, 200])
    try receiver.end()
  }

  @Test func `the thread that removes old uploads ends with the last of them`() throws {
    let receiver = try Receiving("--into", "kept", "--upload-age", "1")
    let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
    let threads = "cat /proc/\(receiver.pid)/task/*/comm | grep formstream-old"
    // The second upload needs it again.
    for _ in 0..<2 {
      try client.send(
        "PUT /f HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nUpload-Complete: ?0\r\n"
          + "Upload-Draft-Interop-Version: 8\r\n\r\n")
      #expect(try client.receiveResponse()?.status == 201)
      // It has its name a moment after it has begun.
      let run = try receiver.shell(
        "until \(threads) || [ -z \"$(ls kept/.formstream-uploads)\" ]; do sleep 0.01; done; "
          + "while \(threads) > out; do sleep 0.01; done; ls kept/.formstream-uploads")
      #expect(run.output == "formstream-old\n")
    }
    try receiver.end()
  }

  @Test func `an ordinary upload makes no directory`() throws {
    let receiver = try Receiving("--into", "kept")
    _ = try receiver.shell("\(curl) -T /etc/hostname $U/f")
    #expect(try receiver.names(in: "kept") == ["f"])
  }

  /// A log must not tell how to go on with an upload.
  @Test func `logs don't show the names of uploads`() throws {
    let receiver = try Receiving("-v", "--into", "kept")
    _ = try receiver.shell("\(curl) -I $U/.formstream-uploads/0123456789abcdef0123456789abcdef")
    _ = try receiver.shell("\(curl) -X DELETE $U/.formstream-uploads/0123456789abcdef0123456789abcdef")
    let end = try receiver.end()
    #expect(end.stderr.contains("/.formstream-uploads/***"), "\(end.stderr)")
    #expect(!end.stderr.contains("0123456789"), "\(end.stderr)")
    #expect(!end.output.contains("0123456789"), "\(end.output)")
  }

  @Test(arguments: [
    (["--max-store", "1G"], "--max-store and --upload-age need --into DIR"),
    (["--upload-age", "5"], "--max-store and --upload-age need --into DIR"),
    (["--into", "d", "--no-resumable", "--upload-age", "5"], "leave one of them out"),
    (["--into", "d", "--upload-age", "0.9"], "is too short: the least is 1 second"),
    (["--into", "d", "--upload-age", "x"], "--upload-age"),
    (["--into", "d", "--max-store", "0"], "is not a size"),
    (["--into", "d", "--max-store", "-1"], "is not a size"),
  ])
  func `limits that make no sense are refused`(_ flags: [String], _ message: String) throws {
    let result = try run(
      "formstream", ["receive", "--listen", "0"] + flags, in: try TemporaryDirectory())
    #expect(result.exit == 64)
    #expect(result.stderr.contains(message), "\(result.stderr)")
  }

  @Test func `a link in place of the directory of uploads is refused`() throws {
    let place = try TemporaryDirectory()
    _ = try shell("mkdir kept other; ln -s ../other kept/.formstream-uploads", in: place)
    let result = try run("formstream", ["receive", "--listen", "0", "--into", "kept"], in: place)
    #expect(result.exit == 74, "\(result)")
    #expect(result.stderr.contains(".formstream-uploads"), "\(result.stderr)")
  }

  /// Regression: an upload whose file could not be locked was gone (404), and nobody could go on with a new one.
  @Test func `without locks, an upload that goes on is an ordinary one`() throws {
    let receiver = try Receiving(
      shell: "strace -D -f -qq -o /dev/null -e trace=flock -e inject=flock:error=EOPNOTSUPP "
        + "$F receive --json --listen 0 --into kept")
    let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
    try client.send(
      "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: \(Self.size)\r\nUpload-Complete: ?1\r\n"
        + "Upload-Draft-Interop-Version: 8\r\n\r\n")
    try client.send(Self.body)
    let whole = try #require(try client.receiveResponse())
    #expect(whole.status == 200 && whole.values(of: "Location") == [], "\(whole)")
    try client.send(
      "PUT /b HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nUpload-Length: 3\r\nUpload-Complete: ?0\r\n"
        + "Upload-Draft-Interop-Version: 8\r\n\r\n")
    let part = try #require(try client.receiveResponse())
    #expect(part.status == 500, "\(part)")
    #expect(try receiver.shell("ls -A kept kept/.formstream-uploads").output.contains(".json") == false)
    try receiver.end()
  }

  /// A receiver that read the state before it had locked the bytes would take such an upload for one that is gone.
  @Test func `an upload that another receiver completes while its bytes are opened is complete`() throws {
    let place = try TemporaryDirectory()
    let first = try Receiving("--into", "kept", in: place)
    let client = try RawClient(.ip("127.0.0.1", port: first.port))
    try client.send(
      "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nUpload-Length: 3\r\nUpload-Complete: ?0\r\n"
        + "Upload-Draft-Interop-Version: 8\r\n\r\n")
    let path = try #require(try client.receiveResponse()?.values(of: "Location").first)
    let name = try #require(path.split(separator: "/").last)
    // The second receiver is stopped when it has opened the bytes and has not locked them. It does not know the upload when it starts:
    // it would be stopped then.
    _ = try first.shell("mkdir aside; mv kept/.formstream-uploads/\(name)* aside")
    let second = try Receiving(
      shell: "strace -D -f -qq -o log -P \(name) -e trace=openat -e inject=openat:signal=STOP:when=1 "
        + "$F receive --json --listen 0 --into kept", in: place)
    _ = try first.shell("mv aside/* kept/.formstream-uploads")
    let other = try RawClient(.ip("127.0.0.1", port: second.port))
    try other.send("HEAD \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
    let stop = "for i in $(seq 6000); do grep -q 'stopped by SIGSTOP' log && exit; sleep 0.01; done; exit 1"
    #expect(try first.shell(stop).exit == 0)
    try client.send(
      "PATCH \(path) HTTP/1.1\r\nHost: h\r\nContent-Type: application/partial-upload\r\nUpload-Offset: 0\r\n"
        + "Content-Length: 3\r\nUpload-Complete: ?1\r\n\r\nabc")
    #expect(try client.receiveResponse()?.status == 200)
    second.signal(SIGCONT)
    let head = try #require(try other.receiveResponse(toHEAD: true))
    #expect(head.values(of: "Upload-Complete") == ["?1"] && head.values(of: "Upload-Offset") == ["3"], "\(head)")
    try second.end()
    try first.end()
  }
}
