import FormStreamTestSupport
import Glibc
import Testing

/// The room that uploads reserve on the disk, and uploads that find none.
@Suite struct ReceiveRoomTests {
  /// Regression: after `kill -9`, 1 GiB stayed allocated for 100 kB that had arrived.
  @Test(.enabled(if: canReserveRoom, "this file system can't reserve room"))
  func `room that a killed receiver had reserved is given back at the next start`() throws {
    let place = try TemporaryDirectory()
    let receiver = try Receiving("--into", "kept", in: place)
    let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
    try client.send(
      "PUT /f HTTP/1.1\r\nHost: h\r\nContent-Length: 64000000\r\nUpload-Complete: ?1\r\n"
        + "Upload-Draft-Interop-Version: 8\r\n\r\n")
    let interim = try #require(try client.receiveResponse())
    let path = try #require(interim.values(of: "Location").first)
    try client.send("abc")
    let file = "kept\(path)"
    _ = try receiver.shell("until [ $(stat -c %s \(file)) = 3 ]; do sleep 0.01; done")
    receiver.signal(SIGKILL)
    #expect(try receiver.wait().signal == SIGKILL)
    // In blocks of 512 bytes.
    let blocks = "echo $(( $(stat -c %b \(file)) > 60000 )) $(stat -c %s \(file))"
    #expect(try receiver.shell(blocks).output == "1 3\n")
    let next = try Receiving("--into", "kept", in: place)
    #expect(try next.shell(blocks).output == "0 3\n")
    #expect(try next.end().exit == 0)
  }

  private static func request(_ isTus: Bool, _ framing: String) -> String {
    isTus
      ? "POST /f HTTP/1.1\r\nHost: h\r\nTus-Resumable: 1.0.0\r\nUpload-Length: 200000\r\n\(framing)\r\n"
        + "Content-Type: application/offset+octet-stream\r\n\r\n"
      : "PUT /f HTTP/1.1\r\nHost: h\r\nUpload-Complete: ?0\r\nUpload-Length: 200000\r\n\(framing)\r\n"
        + "Upload-Draft-Interop-Version: 8\r\n\r\n"
  }

  /// A limit of the shell takes the part of a full disk, because not everybody can mount one.
  ///
  /// Regression: "What had arrived before is kept."
  @Test(.limitsFileSize, arguments: [true, false], [true, false])
  func `a refused creation doesn't say that something is kept, unless that is so`(
    _ isTus: Bool, _ isChunked: Bool
  ) throws {
    let receiver = try Receiving(
      shell: "bash -c 'ulimit -f 64; exec \"$F\" receive --json --listen 0 --into kept'")
    let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
    let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: 200000"
    try client.send(Self.request(isTus, framing))
    let body = String(repeating: "x", count: 200_000)
    do { try client.send(isChunked ? "30d40\r\n\(body)\r\n0\r\n\r\n" : body) } catch {}
    let response = try client.response()
    #expect(response.contains("HTTP/1.1 507 "), "\(response)")
    // Only an upload whose URL was told can have something that is kept. A file system that holds to the limit when room is
    // reserved refuses the upload before it begins: tmpfs does, and ext4 doesn't.
    let reserves = try receiver.shell(": > probe; bash -c 'ulimit -f 64; fallocate -n -l 200000 probe'").exit == 0
    let keeps = !isTus && (isChunked || reserves)
    #expect(response.contains("What had arrived before is kept.") == keeps, "\(response)")
    #expect(response.contains("Nothing of it is kept.") == !keeps, "\(response)")
    let count = try receiver.shell("ls kept/.formstream-uploads | wc -l").output
    #expect(count == (keeps ? "2\n" : "0\n"))
    try receiver.end()
  }
}
