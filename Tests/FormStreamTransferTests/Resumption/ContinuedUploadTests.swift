import FormStream
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Foundation
import Glibc
import Testing

/// What a second run believes of the data of a first one.
struct ContinuedUploadTests {
  private static let bytes = noise(3000)

  private func request(_ url: String, _ resumption: UploadResumption = .httpCreatedFirst) throws -> TransferRequest {
    var request = try makeRequest(url, .bytes(Self.bytes), attempts: 1)
    request.options.resumption = resumption
    return request
  }

  /// The data of an upload that broke off at a server, with another URL of the upload.
  private func data(_ url: String, to upload: String) async throws -> UploadResumeData {
    let kept = try #require(try await makeSession().result(of: request(url)).resumeData)
    let stored = try JSONSerialization.jsonObject(with: JSONEncoder().encode(kept))
    var json = try #require(stored as? [String: Any])
    json["uploadURL"] = upload
    return try JSONDecoder().decode(UploadResumeData.self, from: JSONSerialization.data(withJSONObject: json))
  }

  /// Creates uploads, and loses them after some bytes.
  private func breaking() throws -> ScriptedServer {
    try ScriptedServer { request in
      request.method == "POST"
        ? [.readBody, .respond(201, headers: [("Location", "/u")])] : [.readBody, .reset]
    }
  }

  /// The file of another program, or of another user, would have sent the body to its server.
  @Test func `a stored upload at another server needs the permission that a redirect needs`() async throws {
    let other = try ScriptedServer { request in
      request.method == "HEAD"
        ? [.respond(204, headers: ResumingServer.offset(0, false))]
        : [.readBody, .respond(200, headers: [("Upload-Complete", "?1")])]
    }
    let server = try breaking()
    var request = try request(server.url)
    request.options.resuming = try await data(server.url, to: "\(other.url)/secret-of-upload")
    let before = server.requests.count
    let refused = try await makeSession().result(of: request)
    // The first run may have been carried out.
    #expect(refused.outcome == .unknown && refused.error?.code == .resumptionFailed)
    #expect(refused.error?.description.contains("secret-of-upload") == false)
    request.options.redirects.requiresHTTPS = true
    request.options.redirects.allowsOtherOrigins = true
    #expect(try await makeSession().result(of: request).outcome == .unknown)
    #expect(other.connectionCount == 0)
    request.options.redirects.requiresHTTPS = false
    request.headers.append("X-Secret", "1")
    let result = try await makeSession().result(of: request)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(other.requests.map { $0.header("X-Secret") } == [nil, nil] && server.requests.count == before)
  }

  @Test func `a stored upload never loses its encryption`() async throws {
    let server = try breaking()
    let data = try await data(server.url, to: "\(server.url)/u")
    let json = String(decoding: try JSONEncoder().encode(data), as: UTF8.self)
    let encrypted = json.replacing("\"url\":\"http:", with: "\"url\":\"https:")
    var request = try request(server.url.replacing("http:", with: "https:"))
    request.options.resuming = try JSONDecoder().decode(UploadResumeData.self, from: Data(encrypted.utf8))
    request.options.redirects.allowsOtherOrigins = true
    let before = server.requests.count
    let result = try await makeSession().result(of: request)
    #expect(result.error?.code == .resumptionFailed, "\(String(describing: result.error))")
    #expect(result.error?.description.contains("without encryption") == true)
    #expect(server.requests.count == before)
  }

  @Test func `a resume file that others can write to is refused`() async throws {
    let place = try TemporaryDirectory()
    let server = try breaking()
    var request = try request(server.url)
    request.options.resumeFile = place.local("resume")
    _ = try await makeSession().result(of: request)
    let before = server.requests.count
    for mode in [0o620, 0o602, 0o666] as [mode_t] {
      try #require(chmod(place.path("resume"), mode) == 0)
      let result = try await makeSession().result(of: request)
      #expect(result.outcome == .failed && result.error?.code == .resumeFileUnusable)
      #expect(result.error?.description.contains("Other users may write") == true)
    }
    #expect(server.requests.count == before)
    #expect(access(place.path("resume"), F_OK) == 0)
  }

  /// One process said `unknown`, and two said `failed`.
  @Test(arguments: [true, false]) func `doubt about an earlier request outlives the process`(isOneProcess: Bool) async throws {
    let server = try ScriptedServer { request in
      let interop = ("Upload-Draft-Interop-Version", "8")
      return switch (request.method, request.number) {
      // The first request may be carried out, the second one is not complete.
      case ("POST", 0): [.readBody, .reset]
      case ("POST", _):
        [.informational(104, headers: [("Location", "/u"), interop]), .readBody(upTo: 100), .reset]
      case ("HEAD", _): [.respond(204, headers: ResumingServer.offset(0, false))]
      default: [.readBody, .respond(400)]
      }
    }
    let body = TransferBody.bytes(noise(20_000_000))
    var request = try makeRequest(server.url, body, attempts: isOneProcess ? 5 : 2)
    request.options.resumption = .http
    request.options.retry.retriesUnsafe = true
    request.options.expectation = .never
    var result = try await makeSession().result(of: request)
    if !isOneProcess {
      #expect(result.outcome == .unknown)
      let stored = try JSONEncoder().encode(try #require(result.resumeData))
      request.options.resuming = try JSONDecoder().decode(UploadResumeData.self, from: stored)
      result = try await makeSession().result(of: request)
    }
    #expect(result.outcome == .unknown, "\(String(describing: result.error))")
    #expect(server.requests.map(\.method) == ["POST", "POST", "HEAD", "PATCH"])
  }

  /// The URLs of uploads let others change them.
  @Test func `the URL of an upload is in no message`() async throws {
    let ends: [ScriptedStep] = [
      .reset, .respond(400), .respond(204, headers: [("Upload-Offset", "999999")]), .respond(404), .send("what?\r\n\r\n"),
    ]
    for resumption in [UploadResumption.http, .httpCreatedFirst, .tus] {
      for end in ends {
        let server = try ScriptedServer { request in
          let location = ("Location", "/secret-of-upload")
          return switch request.method {
          case "POST" where resumption == .http:
            [.informational(104, headers: [location, ("Upload-Draft-Interop-Version", "8")]), .readBody, .reset]
          case "POST": [.readBody, .respond(201, headers: [location])]
          default: [.readBody, end, .close]
          }
        }
        let traces = Guarded<[String]>([])
        var request = try request(server.url, resumption)
        request.options.retry.attempts = 2
        request.options.trace = { trace in traces.withLock { $0.append(trace.description) } }
        let result = try await makeSession().result(of: request)
        let shown = traces.withLock(\.self).joined(separator: "\n") + "\(String(describing: result.error))"
        #expect(!shown.contains("secret-of-upload") && server.requests.count > 1, "\(shown)")
      }
    }
  }
}
