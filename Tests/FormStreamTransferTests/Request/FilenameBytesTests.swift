import FormStream
import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// The names of files that are not UTF-8, on the wire.
@Suite struct FilenameBytesTests {
  /// Regression: both names were repaired to the same one, and a receiver stored one file over the other.
  @Test func `names that are not UTF-8 are sent as their bytes`() async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in .good() }
    let form = try Form(boundary: Boundary("B")) {
      for byte in [0xE9, 0xE8] as [UInt8] {
        Part.file("f", try writeFile(LocalPath(bytes: "\(place.path)/caf".utf8 + [byte]), []))
      }
    }
    let result = try await makeSession().result(of: makeRequest(server.url, .form(form)))
    #expect(result.outcome == .ok)
    var expected: [UInt8] = []
    for byte in [0xE9, 0xE8] as [UInt8] {
      expected += "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"caf".utf8
      expected += [byte] + "\"\r\nContent-Type: application/octet-stream\r\n\r\n\r\n".utf8
    }
    expected += "--B--\r\n".utf8
    #expect(server.requests.first?.body == expected)
    expectConsistency(result, at: server)
  }

  @Test func `curl sends the same`() async throws {
    let place = try TemporaryDirectory()
    let file = try writeFile(LocalPath(bytes: "\(place.path)/caf".utf8 + [0xE9]), [])
    let server = try ScriptedServer { _ in .good() }
    let curl = try await onNewThread {
      try run(
        program: "/usr/bin/curl",
        rawArguments: [Array("-sS".utf8), Array("-F".utf8), "f=@".utf8 + file.bytes]
          + [Array(server.url.utf8)])
    }
    #expect(curl.exit == 0, "\(curl.stderr)")
    let form = Form { Part.file("f", file) }
    #expect(try await makeSession().result(of: makeRequest(server.url, .form(form))).outcome == .ok)
    let lines = server.requests.map {
      $0.body.split(separator: 13).dropFirst().first.map(Array.init)
    }
    #expect(lines.count == 2)
    #expect(lines.first == lines.last)
  }
}
