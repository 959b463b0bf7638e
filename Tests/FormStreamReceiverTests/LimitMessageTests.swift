import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// What a client is told whose form exceeds a limit. It can't raise a limit of the receiver.
@Suite struct LimitMessageTests {
  private static let part = "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nhi\r\n"

  /// Regression: "the receiver has a limit; give the boundary that it has".
  @Test(arguments: [
    (
      "123456789\r\n\(part)--B--\r\n",
      "The body has more than 8 bytes before its first delimiter, seen at byte 8: that is the limit here; "
        + "name the boundary that the body's delimiter lines have."
    ),
    (
      "\(part)\(part)--B--\r\n",
      "The body has more than 1 part, seen at byte 58: that is the limit here; send less."
    ),
    (
      "\(part)--B--\r\n123456789",
      "The body has more than 8 bytes after its last delimiter, seen at byte 68: that is the limit here; send none."
    ),
  ])
  func `a limit is named with what to do`(_ body: String, _ message: String) async throws {
    let server = try TestServer {
      $0.limits.form.parts = 1
      $0.limits.form.preamble = 8
      $0.limits.form.epilogue = 8
    }
    let response = try await server.response(
      to: "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; boundary=B\r\n"
        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    #expect(response.status == 413)
    #expect(response.text.contains("\"message\":\"\(message)\""), "\(response.text)")
  }
}
