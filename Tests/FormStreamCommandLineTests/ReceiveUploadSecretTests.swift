import FormStreamTestSupport
import Testing

/// Who reads what a receiver prints must not be able to change uploads: each kind of request, with the URL of an upload in each
/// place where it can stand.
@Suite struct ReceiveUploadSecretTests {
  private static let id = "0123456789abcdef0123456789abcdef"
  private static let methods = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "x"]
  /// The headers of each protocol.
  private static let protocols = [
    "", "Upload-Complete: ?1\r\nUpload-Draft-Interop-Version: 8\r\nUpload-Offset: 0\r\n",
    "Upload-Complete: ?0\r\nUpload-Offset: 1\r\nContent-Type: application/partial-upload\r\n",
    "Upload-Complete: ?0\r\nUpload-Draft-Interop-Version: 8\r\nUpload-Length: 9\r\n",
    "Tus-Resumable: 1.0.0\r\nUpload-Length: 1\r\nUpload-Offset: 0\r\nContent-Type: application/offset+octet-stream\r\n",
  ]
  private static let urls = [
    "/.formstream-uploads/ID", "http://h/.formstream-uploads/ID?a=b", "/x/.formstream-uploads/ID",
    "/%2Eformstream-uploads/ID", "/.FormStream-Uploads/ID", "//.formstream-uploads//ID",
    "/.formstream-uploads/IDx", "/a/../.formstream-uploads/ID", "/%2eformstream%2duploads%2fID",
    "/.FORMSTREAM-uploads/ID", "/%252eformstream-uploads/ID", "/.formstream-uploads/(%22\")ID",
    "/x?u=%2Eformstream-uploads%2FID&/.formstream-uploads",
  ].map { $0.replacing("ID", with: id) }
  /// Requests with `M` for the method, `U` for the URL, and `P` for the headers of the protocol.
  private static let shapes =
    [
      "M U HTTP/1.1\r\nHost: h\r\n", "M U HTTP/1.1\r\n", "M U x HTTP/1.1\r\nHost: h\r\n",
      "M  U HTTP/1.1\r\nHost: h\r\n", "M\tU HTTP/1.1\r\nHost: h\r\n", "M U HTTP/1.1 \r\nHost: h\r\n",
      "M U HTTP/1.0\r\n", "M U HTTP/2.0\r\nHost: h\r\n", "M U\r\nHost: h\r\n",
      "U / HTTP/1.1\r\nHost: h\r\n", "M / U\r\nHost: h\r\n", "M U HTTP/1.1\r\nHost: h\r\n folded: U\r\n",
      "M U HTTP/1.1\nHost: h\n", "M / HTTP/1.1\r\nHost: h\r\nU: x\r\n", "M / HTTP/1.1\r\nHost: h\r\nU\r\n",
      "M / HTTP/1.1\r\nHost: U\r\n", "M / HTTP/1.1\r\nHost: h\r\nX: U\r\n Y\r\n",
    ]
    + [
      "Referer", "Content-Length", "Transfer-Encoding", "Content-Type", "Content-Encoding",
      "Content-Range", "Upload-Offset", "Upload-Checksum", "Upload-Metadata", "Tus-Resumable",
      "X-HTTP-Method-Override", "Content-Digest", "Expect", "Origin", "If-None-Match", "If-Match",
      "Content-Disposition", "Cookie", "Location", "X-Forwarded-Uri",
    ].map { "M / HTTP/1.1\r\nHost: h\r\n\($0): U\r\n" }

  /// Regression: the target of a request that creates an upload, and the name of a file that is stored, were not masked.
  @Test(arguments: [true, false])
  func `nothing that is printed or sent has the URL of an upload`(_ asRecords: Bool) throws {
    // The first line says the port: a record on standard output, or a message on standard error.
    let rest = ">(read -r line; echo \"$line\"; cat > part; mv part rest)"
    let receiver = try Receiving(
      shell: "$F receive -v --listen 0 --into kept \(asRecords ? "--json > \(rest) 2> all" : "2> \(rest) > all")")
    var leaks: [String] = []
    var statuses: Set<Substring> = []
    var turn = asRecords ? 0 : 2
    for shape in Self.shapes {
      for method in Self.methods {
        // The URLs and the protocols take turns. The numbers of both and of the methods have no common factor.
        let (url, headers) = (Self.urls[turn % Self.urls.count], Self.protocols[turn % 5])
        turn += 1
        let head = shape.replacing("M", with: method, maxReplacements: 1).replacing("U", with: url)
        let length = shape.contains(/Content-Length|Transfer/) ? "" : "Content-Length: 1\r\n"
        let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
        try client.send("\(head)\(headers)\(length)Connection: close\r\n\r\na")
        client.closeWrite()
        let response = (try? client.response()) ?? ""
        statuses.insert(response.dropFirst(9).prefix(3))
        if response.contains(Self.id) { leaks.append("\(head) \(response)") }
      }
    }
    #expect(leaks.prefix(5) == [], "\(leaks.count) leaks")
    let expected: Set<Substring> = ["200", "201", "400", "403", "404", "405", "412", "415", "501", "505"]
    #expect(expected.subtracting(statuses) == [], "\(statuses.sorted())")
    _ = try receiver.end()
    let printed = try receiver.shell(
      "until [ -e rest ]; do sleep 0.01; done; grep -hF \(Self.id) rest all; ls -R kept | grep -F \(Self.id); cat rest all | wc -l"
    )
    let lines = printed.output.split(separator: "\n")
    #expect(lines.dropLast().prefix(5) == [], "\(lines.count - 1) leaks")
    // The test has not printed into the void.
    #expect(lines.last.flatMap { Int($0) } ?? 0 > 500, "\(lines)")
  }
}
