import FormStreamTestSupport
import Testing

/// `--sync`, seen by the system calls of the receiver.
@Suite struct ReceiveSyncTests {
  @Test(arguments: [["--sync"], ["--sync", "--overwrite"], []])
  func `files and names are on the disk before the response`(_ flags: [String]) throws {
    let place = try TemporaryDirectory()
    let receiver = try Receiving(
      shell: "strace -f -y -o trace -e trace=fsync,linkat,renameat,renameat2,sendto,sendmsg,writev "
        + "$F receive --json --listen 0 --once --into kept --keep-paths \(flags.joined(separator: " "))",
      in: place)
    let upload = try receiver.post("-F", "f=x;filename=new/one", "-F", "f=y;filename=two")
    #expect(upload.exit == 0, "\(upload.stderr)")
    _ = try receiver.wait()
    let calls = try shell("cat trace", in: place).output.split(separator: "\n").map(String.init)
    func last(_ texts: String...) -> Int? {
      calls.lastIndex { call in texts.allSatisfy(call.contains) }
    }
    guard flags.contains("--sync") else { return #expect(last(" fsync(") == nil, "\(calls)") }
    let response = try #require(last("HTTP/1.1 200 OK"), "\(calls)")
    let named = try #require(calls.lastIndex { $0.contains("\"two\"") || $0.contains("\"one\"") })
    let contents = calls.indices.filter {
      calls[$0].contains(" fsync(")
        && (calls[$0].contains("/kept/#") || calls[$0].contains("/.formstream-"))
    }
    #expect(contents.count == 2, "\(calls)")
    for index in contents { #expect(index < named, "\(calls)") }
    for directory in ["/kept>)", "/kept/new>)"] {
      let synced = try #require(last(" fsync(", directory), "\(calls)")
      #expect(named < synced && synced < response, "\(calls)")
    }
  }

  /// A receiver whose directory can't be written to the disk, after the file has its name.
  private static func failing(_ error: String, _ flags: String...) throws -> Receiving {
    let receiver = try Receiving(["--into", "kept", "--sync"] + flags)
    let tracing = try receiver.shell(
      """
      setsid strace -f -qq -o /dev/null -P "$PWD/kept" -e trace=fsync -e inject=fsync:error=\(error) -p \(receiver.pid) \
        > /dev/null 2> why &
      until [ "$(cat /proc/\(receiver.pid)/task/*/status | grep -c 'TracerPid:.*[1-9]')" = \
        "$(ls /proc/\(receiver.pid)/task | wc -l)" ]; do
        kill -0 $! 2> /dev/null || { cat why; exit 1; }
        sleep 0.01
      done
      """)
    // Without strace, nothing fails, and the tests would wait for ever.
    try #require(tracing.exit == 0, "strace: \(tracing.output) \(tracing.stderr)")
    return receiver
  }

  /// Makes the disk of a receiver work again.
  private static func repair(_ receiver: Receiving) throws {
    _ = try receiver.shell(
      "kill -9 $(sed -n 's/^TracerPid:[[:space:]]*//p' /proc/\(receiver.pid)/status)")
  }

  /// The names of what the receiver has stored.
  private static func stored(_ receiver: Receiving) throws -> [String] {
    try receiver.names(in: "kept").filter { $0 != ".formstream-uploads" }
  }

  @Test(arguments: [("EIO", 500), ("ENOSPC", 507)], ["-T one $U/", "-F f=x -F 'g=y;filename=d' -F h=@one $U"])
  func `an upload whose name may not be on the disk is refused, and nothing of it stays`(
    _ failure: (error: String, status: Int), _ arguments: String
  ) throws {
    let receiver = try Self.failing(failure.error)
    try receiver.place.write("one", "1")
    let refused = try receiver.shell("\(curl) \(arguments); cat answer").output
    #expect(refused.hasPrefix("\(failure.status)\n"), "\(refused)")
    #expect(try Self.stored(receiver) == [])
    try Self.repair(receiver)
    #expect(try receiver.shell("\(curl) \(arguments)").output == "200\n")
    // No name got a number: the first attempt has left none.
    #expect(try Self.stored(receiver) == (arguments.hasPrefix("-T") ? ["one"] : ["d", "one"]))
    #expect(try receiver.record().contains(#""stored_as":null"#))
    try receiver.end()
  }

  /// Regression: a directory that could not be opened, or was gone, was left out, and the upload was accepted. If a file stays stored
  /// after the failure, no status may say that a repetition helps: the file would be stored twice.
  @Test(arguments: [("EMFILE", "4", 503), ("EMFILE", "4+", 500), ("ENOENT", "4", 500)])
  func `a name whose directory can't be opened is not on the disk`(
    _ error: String, _ calls: String, _ status: Int
  ) throws {
    // The first three times, the directory is opened to make it and to store the file; then to synchronize it, and to take the
    // file back.
    let receiver = try Receiving(
      shell: "strace -D -f -qq -o /dev/null -P sub -e trace=openat -e inject=openat:error=\(error):when=\(calls) "
        + "$F receive --json --listen 0 --into kept --keep-paths --sync")
    let refused = try receiver.shell("\(curl) -F 'f=x;filename=sub/one' $U; cat answer").output
    #expect(refused.hasPrefix("\(status)\n"), "\(refused)")
    let isKept = calls == "4+"
    #expect(refused.contains(#""stored_as":"sub/one""#) == isKept, "\(refused)")
    #expect(try receiver.shell("find kept -type f").output == (isKept ? "kept/sub/one\n" : ""))
    try receiver.end()
  }

  /// A file that has replaced another can't be taken back: the record says so.
  @Test func `a file that has replaced another stays, and its request fails`() throws {
    let receiver = try Self.failing("EIO", "--overwrite")
    _ = try receiver.shell("echo old > kept/one; echo new > one")
    let seen = try receiver.shell("\(curl) -T one $U/; cat answer kept/one").output
    #expect(seen.hasPrefix("500\n"), "\(seen)")
    #expect(seen.contains(#""stored_as":"one""#), "\(seen)")
    #expect(seen.contains("1 of its files had already replaced another"), "\(seen)")
    #expect(seen.hasSuffix("new\n"), "\(seen)")
    try receiver.end()
  }

  /// Regression: the only copy of the bytes was removed, and HEAD said that the upload is complete.
  @Test(arguments: [true, false])
  func `an upload that goes on gets its file back if there was no room for its name`(_ isByTus: Bool)
    throws
  {
    let receiver = try Self.failing("ENOSPC")
    let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
    let kind = isByTus ? "Tus-Resumable: 1.0.0\r\n" : "Upload-Draft-Interop-Version: 8\r\n"
    let complete = isByTus ? "" : "Upload-Complete: ?1\r\n"
    let type = isByTus ? "application/offset+octet-stream" : "application/partial-upload"
    func send(_ text: String) throws -> RecordedResponse {
      try client.send(text)
      return try #require(try client.receiveResponse(toHEAD: text.hasPrefix("HEAD")))
    }
    let creation = try send(
      "POST / HTTP/1.1\r\nHost: h\r\n\(kind)Content-Length: 0\r\nUpload-Length: 3\r\n"
        + "\(isByTus ? "" : "Upload-Complete: ?0\r\n")\r\n")
    let path = try #require(creation.values(of: "Location").first)
    func patch(_ body: String, at offset: Int) throws -> RecordedResponse {
      try send(
        "PATCH \(path) HTTP/1.1\r\nHost: h\r\n\(kind)\(complete)Upload-Offset: \(offset)\r\nContent-Type: \(type)\r\n"
          + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }
    let full = try patch("abc", at: 0)
    #expect(full.status == 507, "\(full)")
    #expect(full.text.contains("What had arrived before is kept."), "\(full)")
    #expect(try Self.stored(receiver) == [])
    if !isByTus {
      let head = try send("HEAD \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
      #expect(head.values(of: "Upload-Complete") == ["?0"], "\(head)")
    }
    try Self.repair(receiver)
    #expect(try patch("", at: 3).status == (isByTus ? 204 : 200))
    #expect(try receiver.shell("cat kept/file; stat -c ' %a' kept/file").output == "abc 644\n")
    try receiver.end()
  }

  /// It is not said to be stored, and what was stored is not left behind under its name.
  @Test func `an upload that goes on fails if its name can't be written`() throws {
    let receiver = try Self.failing("EIO")
    let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
    try client.send(
      "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1048576\r\nUpload-Complete: ?1\r\n"
        + "Upload-Draft-Interop-Version: 8\r\n\r\n" + String(repeating: "x", count: 1 << 20))
    let interim = try #require(try client.receiveResponse())
    let path = try #require(interim.values(of: "Location").first)
    var response = interim
    while response.status == 104 { response = try #require(try client.receiveResponse()) }
    #expect(response.status == 500, "\(response)")
    #expect(try Self.stored(receiver) == [])
    let again = try RawClient(.ip("127.0.0.1", port: receiver.port))
    try again.send(
      "PATCH \(path) HTTP/1.1\r\nHost: h\r\nUpload-Offset: 1048576\r\nUpload-Complete: ?1\r\nContent-Type: "
        + "application/partial-upload\r\nContent-Length: 0\r\n\r\n")
    #expect(try again.receiveResponse()?.status == 500)
    try receiver.end()
  }
}
