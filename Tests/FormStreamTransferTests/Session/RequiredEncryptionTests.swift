import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Foundation
import Testing

/// A session that allows only https, with exceptions.
@Suite struct RequiredEncryptionTests {
  private func session(except hosts: String) throws -> TransferSession {
    var configuration = TransferSession.Configuration()
    configuration.requiresHTTPS = true
    configuration.unencryptedHosts = hosts
    return try TransferSession(configuration)
  }

  private func request(_ url: String) throws -> TransferRequest {
    var request = try makeRequest(url)
    request.options.redirects.allowsOtherOrigins = true
    return request
  }

  @Test(arguments: ["", "example.org", "127.0.0.2", "10.0.0.0/8"])
  func `a request to another http host is refused before anything is sent`(hosts: String) async throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try TemporaryDirectory()
    let session = try session(except: hosts)
    let result = await session.result(of: try request(server.url))
    #expect(result.outcome == .failed && result.error?.code == .encryptionRequired)
    #expect(result.error?.description.contains("unencryptedHosts") == true)
    let download = await session.startDownload(
      try makeRequest(.get, server.url, nil), DownloadSettings(.file(place.path("copy")))
    ).result
    #expect(download.outcome == .failed && download.error?.code == .encryptionRequired)
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.path("")).isEmpty)
    #expect(server.connectionCount == 0)
  }

  @Test(arguments: ["127.0.0.1", "example.org, 127.0.0.1", "127.0.0.0/8"])
  func `the hosts that are excepted are reached over http`(hosts: String) async throws {
    let server = try ScriptedServer { _ in .good() }
    let result = try await session(except: hosts).result(of: try request(server.url))
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
  }

  @Test(
    arguments: [
      "localhost:8080", "http://example.org", "10.0.0.0/99", "10.0.0.0/", "example.org/8", "*", "*, example.org",
      "*.example.org", "example.org, a b:1", ".", "[::1]", "bücher.example",
    ])
  func `an exception that can't match, or that would allow everything, is refused`(hosts: String) throws {
    let error = #expect(throws: TransferError.self) { _ = try session(except: hosts) }
    #expect(error?.code == .invalidSetting && error?.description.contains("unencryptedHosts") == true)
  }

  @Test(arguments: ["", "example.org", ".example.org, sub.example.org.", "10.0.0.0/8,::1 fe80::/10", "EXAMPLE.org", "a_b"])
  func `exceptions that can match are accepted, but not without the rule`(hosts: String) throws {
    _ = try session(except: hosts)
    var configuration = TransferSession.Configuration()
    configuration.unencryptedHosts = hosts
    if hosts.isEmpty {
      _ = try TransferSession(configuration)
      return
    }
    let error = #expect(throws: TransferError.self) { _ = try TransferSession(configuration) }
    #expect(error?.code == .invalidSetting && error?.description.contains("requiresHTTPS") == true)
  }

  @Test func `the names below an excepted one, and all of https, are allowed`() async throws {
    var configuration = TransferSession.Configuration()
    configuration.requiresHTTPS = true
    configuration.unencryptedHosts = "example.org"
    let session = try TransferSession(configuration) { _ in .status(200) }
    for (url, isAllowed) in [
      ("http://example.org/", true), ("http://a.example.org/", true), ("http://badexample.org/", false),
      ("https://other.example/", true), ("http://other.example/", false),
    ] {
      let result = await session.result(of: try request(url))
      #expect(result.outcome == (isAllowed ? .ok : .failed), "\(url)")
    }
  }

  @Test(arguments: [303, 307])
  func `a redirect to another http host is not followed`(status: Int) async throws {
    let other = try ScriptedServer { _ in .good() }
    let location = other.url.replacing("127.0.0.1", with: "localhost") + "/b"
    let server = try ScriptedServer { _ in .good(status, headers: [("Location", location)]) }
    let result = try await session(except: "127.0.0.1").result(of: request(server.url))
    if status == 303 {
      // The request was carried out, and only its page is not fetched.
      #expect(result.outcome == .ok && result.status == 303)
    } else {
      #expect(result.outcome == .failed && result.error?.code == .redirectRefused)
      #expect(result.error?.description.contains("unencryptedHosts") == true)
    }
    #expect(other.connectionCount == 0)
    let allowed = try await session(except: "127.0.0.1,localhost").result(of: request(server.url))
    #expect(allowed.outcome == .ok && other.requests.count == 1)
  }

  @Test(arguments: [false, true])
  func `an upload that a server keeps at another http host is not continued`(isStored: Bool) async throws {
    let other = try ScriptedServer { request in
      request.method == "HEAD"
        ? [.respond(204, headers: ResumingServer.offset(0, false))]
        : [.readBody, .respond(200, headers: [("Upload-Complete", "?1")])]
    }
    let place = other.url.replacing("127.0.0.1", with: "localhost") + "/u"
    let server = try ScriptedServer { request in
      request.method == "POST"
        ? [.readBody, .respond(201, headers: [("Location", isStored ? "/u" : place)])] : [.readBody, .reset]
    }
    var request = try makeRequest(server.url, .bytes(noise(2000)), attempts: 1)
    request.options.resumption = .httpCreatedFirst
    request.options.redirects.allowsOtherOrigins = true
    if isStored {
      let kept = try #require(try await makeSession().result(of: request).resumeData)
      var json = try #require(try JSONSerialization.jsonObject(with: JSONEncoder().encode(kept)) as? [String: Any])
      json["uploadURL"] = place
      request.options.resuming = try JSONDecoder().decode(
        UploadResumeData.self, from: JSONSerialization.data(withJSONObject: json))
    }
    let refused = try await session(except: "127.0.0.1").result(of: request)
    #expect(refused.outcome != .ok && other.connectionCount == 0, "\(refused)")
    let result = try await session(except: "127.0.0.1,localhost").result(of: request)
    #expect(result.outcome == .ok && !other.requests.isEmpty, "\(String(describing: result.error))")
  }
}
