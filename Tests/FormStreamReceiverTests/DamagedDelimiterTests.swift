import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// Forms whose first delimiter is not at the start of a line.
@Suite struct DamagedDelimiterTests {
  /// Regression: the file was thrown away as a preamble, and the response was 200 with no parts.
  @Test(arguments: ["\u{FEFF}", " ", "x", "\t"])
  func `a form whose first delimiter is damaged is refused`(_ before: String) async throws {
    let server = try DirectoryServer()
    let body =
      "\(before)--B\r\nContent-Disposition: form-data; name=f; filename=a.txt\r\n\r\nabc\r\n--B--\r\n"
    let response = try await server.response(
      to: "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; boundary=B\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    #expect(response.status == 400)
    #expect(response.text.contains("\"code\":\"malformed-body\""))
    #expect(response.text.contains("alone on a line"))
    #expect(server.names == [])
  }

  /// Regression: the file was thrown away, and the response was 200.
  @Test(arguments: [
    ("--Bx\r\n", ""), ("--b\r\n", ""), ("-B\r\n", ""), ("--B--\r\n", ""), ("", ""),
    ("--B--\r\n--B\r\n", ""),
    ("--Bx\r\n", "\r\n--B\r\nContent-Disposition: form-data; name=g\r\n\r\n2"),
  ])
  func `a form whose text outside of the delimiters holds a file is refused`(
    _ before: String, _ after: String
  ) async throws {
    let server = try DirectoryServer()
    let body =
      "\(before)Content-Disposition: form-data; name=f; filename=a.txt\r\n\r\nabc\(after)\r\n--B--\r\n"
    let response = try await server.response(
      to: "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; boundary=B\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    #expect(response.status == 400)
    #expect(response.text.contains("\"code\":\"malformed-body\""))
    #expect(response.text.contains("would be lost"))
    #expect(server.names == [])
  }
}
