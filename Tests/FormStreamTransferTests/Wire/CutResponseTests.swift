import FormStream
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// Responses that have more bytes than are kept. A part of a response is no response, unless it was asked for.
@Suite struct CutResponseTests {
  private static let limit = 1 << 20

  /// - Parameter surplus: how many bytes the response has over the limit.
  private func server(
    surplus: Int, _ framing: ScriptedResponse.Framing = .contentLength, status: Int = 200
  ) throws -> ScriptedServer {
    let bytes = noise(Self.limit + surplus)
    return try ScriptedServer { _ in
      [.readBody, .respond(status, bytes: bytes, framing: framing)]
    }
  }

  /// The error of a call. `#expect(throws:)` would describe it, which takes a second for each megabyte of its response.
  private func failure(of call: () async throws -> Void) async throws -> TransferError {
    do {
      try await call()
    } catch let error as TransferError {
      return error
    }
    throw NoError()
  }

  private struct NoError: Error {}

  private func check(_ error: TransferError?) {
    #expect(error?.code == .responseTooLarge)
    #expect(error?.outcome == .ok && error?.status == 200)
    #expect(error?.response?.isTruncated == true)
    #expect(error?.response.map { Array($0.body) } == noise(Self.limit))
    #expect(error?.description.contains("1048576") == true, "\(String(describing: error))")
  }

  @Test(arguments: ["get", "post", "put", "delete", "send", "decoded"], [1, 20_000_000])
  func `a response over the limit is an error, with what arrived`(
    _ verb: String, _ surplus: Int
  ) async throws {
    let server = try server(surplus: surplus)
    let session = try makeSession()
    let error = try await failure {
      switch verb {
      case "get": _ = try await session.get(server.url)
      case "post": try await session.post(server.url, fields: ["a": "b"])
      case "put": try await session.put(server.url, body: .bytes("b".utf8))
      case "delete": try await session.delete(server.url)
      case "send": try await session.send(makeRequest(.get, server.url, nil, attempts: 3))
      default:
        _ = try await session.send(makeRequest(.get, server.url, nil)).decoded(
          as: [String].self)
      }
    }
    check(error)
    #expect(server.requests.count == 1)
  }

  @Test func `a response of exactly the limit is complete`() async throws {
    for framing in [
      ScriptedResponse.Framing.contentLength, .chunked(of: 5000, trailers: []), .close,
    ] {
      let (exact, over) = (try server(surplus: 0, framing), try server(surplus: 1, framing))
      let session = try makeSession()
      #expect(try await session.get(exact.url).body.count == Self.limit)
      check(try await failure { _ = try await session.get(over.url) })
    }
  }

  @Test func `the result of a request that was carried out stays ok`() async throws {
    let server = try server(surplus: 1)
    let result = try await makeSession().result(of: makeRequest(server.url))
    #expect(result.outcome == .ok)
    check(result.error)
  }

  @Test func `a refusal stays a refusal`() async throws {
    let server = try server(surplus: 1, status: 404)
    let result = try await makeSession().result(of: makeRequest(.get, server.url, nil))
    #expect(result.outcome == .failed && result.error?.code == .statusRefused)
    #expect(result.response?.isTruncated == true && result.response?.body.count == Self.limit)
  }

  @Test func `a page that a 303 names is one too`() async throws {
    let bytes = noise(Self.limit + 1)
    let server = try ScriptedServer { request in
      request.method == "POST"
        ? .good(303, headers: [("Location", "/page")]) : [.respond(200, bytes: bytes)]
    }
    let result = try await makeSession().result(of: makeRequest(server.url))
    #expect(result.outcome == .ok)
    check(result.error)
  }

  @Test func `a response is cut where the caller says so`() async throws {
    let server = try server(surplus: 1)
    for target in [ResponseTarget.truncated(at: 5), .truncated(at: Self.limit), .dropped] {
      var options = TransferOptions()
      options.responseTarget = target
      let response = try await makeSession().get(server.url, options: options)
      #expect(response.isTruncated)
      #expect([0, 5, Self.limit].contains(response.body.count))
    }
  }

  @Test(arguments: [true, false])
  func `the target that the program chooses decides`(isHeld: Bool) async throws {
    let server = try ScriptedServer { _ in
      isHeld
        ? .good(401, headers: [("WWW-Authenticate", "Bearer")], body: "12345")
        : .good(body: "12345")
    }
    for (target, isCut) in [
      (ResponseTarget.memory(limit: 4), false), (.truncated(at: 4), true), (.memory(limit: 5), nil),
    ] as [(ResponseTarget, Bool?)] {
      var request = try makeRequest(.get, server.url, nil)
      request.options.acceptedStatuses = [200, 401]
      request.options.decisions.responseHead = { _ in target }
      let result = try await makeSession().result(of: request)
      #expect(result.outcome == .ok)
      #expect(result.error?.code == (isCut == false ? .responseTooLarge : nil))
      #expect(result.response?.isTruncated == (isCut != nil))
    }
  }
}
