import FormStream
import FormStreamTestSupport
import FormStreamTransfer
import Foundation
import Testing

/// What is kept of an upload while its outcome is open, and what the next run makes of it.
struct UploadStepTests {
  private static let bytes = noise(3000)

  private func request(
    _ url: String, _ body: [UInt8], _ resumption: UploadResumption, _ file: String? = nil
  ) throws -> TransferRequest {
    var request = try makeRequest(url, .bytes(body), attempts: 1)
    request.options.resumption = resumption
    request.options.resumeFile = file.map { LocalPath($0) }
    return request
  }

  /// Regression: the receiver keeps the bytes of an upload that finds no room at its end, and the client threw its URL away.
  @Test func `a server that has no room and keeps the upload can be asked later`() async throws {
    let server = try ScriptedServer { request in
      request.method == "POST"
        ? [.readBody, .respond(201, headers: [("Location", "/u")])]
        : [.readBody, .respond(507, headers: [("Upload-Complete", "?0"), ("Upload-Offset", "3000")])]
    }
    let result = try await makeSession().result(of: request(server.url, Self.bytes, .httpCreatedFirst))
    #expect(result.outcome == .retryable, "\(String(describing: result.error))")
    #expect(result.resumeData?.uploadURL != nil)
  }

  /// Regression: nothing was written before such a creation, so the next run made another upload.
  @Test func `an empty upload by tus that may have been created is not created again`() async throws {
    let server = try ScriptedServer { _ in [.readBody, .reset] }
    let place = try TemporaryDirectory()
    for _ in 1...2 {
      let result = try await makeSession().result(of: request(server.url, [], .tus, place.path("resume")))
      #expect(result.outcome == .unknown, "\(String(describing: result.error))")
    }
    #expect(server.requests.map(\.method) == ["POST"])
  }

  /// Regression: a run that went on emptied the file before it wrote it anew, so a full disk took everything.
  @Test func `a run that goes on adds to the resume file`() async throws {
    let server = try ScriptedServer { request in
      switch request.method {
      case "POST": [.readBody, .respond(201, headers: [("Location", "/u")])]
      case "HEAD": [.respond(204, headers: [("Upload-Complete", "?0"), ("Upload-Offset", "0")])]
      default: [.readBody, .reset]
      }
    }
    let place = try TemporaryDirectory()
    var contents: [String] = []
    for _ in 1...2 {
      _ = try await makeSession().result(of: request(server.url, Self.bytes, .httpCreatedFirst, place.path("resume")))
      contents.append(try String(contentsOfFile: place.path("resume"), encoding: .utf8))
    }
    #expect(contents[1].hasPrefix(contents[0]) && server.requests.map(\.method) == ["POST", "PATCH", "HEAD", "PATCH"])
  }
}
