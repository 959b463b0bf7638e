import FormStreamTestSupport
import Testing

/// Requests that say that their body is only a part of something. Stored, it would be taken for the complete file.
@Suite struct PartialUploadTests {
  @Test(
    arguments: [
      "Content-Range: bytes 0-2/10", "content-range: bytes 0-2/3", "Content-Range: bytes 7-9/*",
      "Content-Range: lines 1-2/3", "Content-Range: rubbish", "Content-Range:",
      "Upload-Complete: ?0", "Upload-Incomplete: ?1", "Tus-Resumable: 1.0.0",
    ], ["PUT", "POST"])
  func `a part of a file is not stored`(_ header: String, _ method: String) async throws {
    let server = try DirectoryServer()
    let response = try await server.put("abc", header, method: method)
    #expect(response.status == 400, "\(response)")
    #expect(response.text.contains(#""code":"partial-upload""#), "\(response)")
    #expect(server.names == [])
  }

  @Test func `a part of a form that is a part of a file is not stored`() async throws {
    let server = try DirectoryServer()
    let response = try await server.put(
      "--b\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-2/10\r\n\r\nabc\r\n--b--\r\n",
      "Content-Type: multipart/byteranges; boundary=b")
    #expect(response.status == 400, "\(response)")
    #expect(response.text.contains(#""code":"partial-upload""#), "\(response)")
    #expect(server.names == [])
  }

  @Test(arguments: ["Upload-Complete: ?1", "Upload-Incomplete: ?0", "Range: bytes=0-2"])
  func `a complete upload is stored`(_ header: String) async throws {
    let server = try DirectoryServer()
    #expect(try await server.put("abc", header).status == 200)
    #expect(server.names == ["a"])
  }
}
