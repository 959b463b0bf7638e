import FormStream
import Foundation
import FormStreamPlatform
import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// What the program decides while its requests are sent.
@Suite struct DecisionTests {
  /// What was decided, in order.
  private final class Log: Sendable {
    private let entries = Guarded<[String]>([])
    var all: [String] { entries.withLock { $0 } }
    func add(_ entry: String) { entries.withLock { $0.append(entry) } }
  }

  private struct Refusal: Error {}

  private func session(
    _ decisions: Decisions, connections: Int? = 6
  ) throws -> TransferSession {
    var configuration = TransferSession.Configuration()
    configuration.decisions = decisions
    configuration.idleLimit = .seconds(600)
    configuration.maximumConnectionsPerHost = connections
    return try TransferSession(configuration)
  }

  private static func accepts(_ request: RecordedRequest, _ token: String) -> Bool {
    request.header("Authorization") == "Bearer \(token)"
  }

  private static let demand = ("WWW-Authenticate", "Bearer realm=\"api\"")

  // MARK: Order

  @Test func `certificate, challenge, redirect and head are decided in this order`() async throws {
    let server = try ScriptedServer { request in
      if !Self.accepts(request, "new") { return .good(401, headers: [Self.demand], body: "no") }
      return request.target == "/start"
        ? .good(307, headers: [("Location", "/end")], body: "there") : .good(body: "arrived")
    }
    let certificates = try TestCertificates()
    let proxy = try TLSProxy(to: server.port, certificates.selfSigned)
    let log = Log()
    var configuration = TransferSession.Configuration()
    configuration.idleLimit = .seconds(600)
    configuration.serverTrust = { trust in
      log.add("certificate \(trust.origin)")
      return .trust
    }
    configuration.decisions.challenge = { challenge in
      log.add(
        "challenge \(challenge.scheme ?? "") \(challenge.realm ?? "") \(challenge.host) "
          + "\(challenge.failureCount) \(challenge.response.status)")
      return .bearer("new")
    }
    configuration.decisions.redirect = { redirect in
      log.add(
        "redirect \(redirect.status) \(redirect.source) \(redirect.target) \(redirect.method)")
      return .follow
    }
    configuration.decisions.responseHead = { head in
      log.add("head \(head.status) \(head.body.count)")
      return nil
    }
    var request = try makeRequest(proxy.url + "/start")
    request.credentials = .bearer("old")
    let received = ReceivedText()
    request.options.responseTarget = .stream { received.append($0) }
    let result = try await TransferSession(configuration).result(of: request)
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(
      log.all == [
        "certificate \(proxy.url)", "challenge Bearer api localhost 1 401",
        "redirect 307 \(proxy.url)/start \(proxy.url)/end POST", "head 200 0",
      ])
    #expect(received.text == "arrived")
    expectConsistency(result, at: server, bodies: 3)
  }

  @Test func `a request's own decisions take precedence over the session's`() async throws {
    let server = try ScriptedServer { request in
      request.header("Authorization") == nil
        ? .good(401, headers: [Self.demand]) : .good(body: "x")
    }
    let log = Log()
    var decisions = Decisions()
    decisions.challenge = { _ in .bearer("session's") }
    decisions.responseHead = { _ in
      log.add("session's")
      return nil
    }
    var request = try makeRequest(server.url)
    request.options.decisions.challenge = { _ in .bearer("own") }
    let result = try await session(decisions).result(of: request)
    #expect(result.outcome == .ok)
    #expect(server.requests.last?.header("Authorization") == "Bearer own")
    #expect(log.all == ["session's"])
  }

  // MARK: Challenges

  @Test func `one call serves all requests that wait for a token`() async throws {
    let server = try ScriptedServer { request in
      Self.accepts(request, "new") ? .good() : .good(401, headers: [Self.demand])
    }
    let (log, gate) = (Log(), try Gate())
    var decisions = Decisions()
    decisions.challenge = { _ in
      log.add("asked")
      try await gate.opened()
      return .bearer("new")
    }
    let session = try session(decisions, connections: nil)
    let tasks = try (0..<50).map { _ in
      var request = try makeRequest(server.url)
      request.credentials = .bearer("old")
      return session.start(request)
    }
    // All have their 401 before there is a new token.
    #expect(server.wait { $0.filter { $0.responseStatus == 401 }.count == 50 })
    gate.open()
    for task in tasks {
      let result = await task.result
      #expect(result.outcome == .ok, "\(String(describing: result.error))")
    }
    #expect(log.all == ["asked"])
    #expect(server.requests.count == 100)
    #expect(server.completeBodyCount == 100)
    // Later requests send the new token at once.
    var later = try makeRequest(server.url)
    later.credentials = .bearer("old")
    let result = await session.result(of: later)
    #expect(result.outcome == .ok && result.attempts == 1)
    #expect(log.all == ["asked"])
    #expect(server.faults == [])
  }

  @Test func `a token that is refused is asked for again, and never sent twice`() async throws {
    let server = try ScriptedServer { request in
      Self.accepts(request, "third") ? .good() : .good(401, headers: [Self.demand])
    }
    let log = Log()
    var decisions = Decisions()
    decisions.challenge = { challenge in
      log.add("\(challenge.failureCount)")
      return .bearer(["first", "second", "third"][challenge.failureCount])
    }
    let result = try await session(decisions).result(of: makeRequest(server.url))
    #expect(result.outcome == .ok)
    #expect(log.all == ["0", "1", "2"])
    decisions.challenge = { _ in .bearer("same") }
    let refused = try await session(decisions).result(of: makeRequest(server.url))
    #expect(refused.outcome == .failed && refused.status == 401)
    #expect(refused.attempts == 2)
    decisions.challenge = { _ in .random }
    let endless = try await session(decisions).result(of: makeRequest(server.url))
    #expect(endless.outcome == .failed && endless.attempts == 6)
    #expect(server.faults == [])
  }

  @Test func `none, an error and a request that is cancelled leave the 401`() async throws {
    let server = try ScriptedServer { _ in .good(401, headers: [Self.demand], body: "who?") }
    var decisions = Decisions()
    decisions.challenge = { _ in nil }
    let received = ReceivedText()
    var request = try makeRequest(server.url)
    request.options.responseTarget = .stream { received.append($0) }
    let none = try await session(decisions).result(of: request)
    #expect(none.outcome == .failed && none.status == 401)
    #expect(received.text == "who?")
    decisions.challenge = { _ in throw Refusal() }
    let failed = try await session(decisions).result(of: makeRequest(server.url))
    #expect(failed.outcome == .failed)
    #expect(failed.error?.code == .decisionFailed)
    #expect(failed.error?.underlying is Refusal)
    let (asked, isCancelled) = (try Gate(), try Gate())
    decisions.challenge = { _ in
      asked.open()
      try? await Task.sleep(for: .seconds(3600))
      if Task.isCancelled { isCancelled.open() }
      return nil
    }
    let task = try session(decisions).start(makeRequest(server.url))
    try await asked.opened()
    task.cancel()
    let cancelled = await task.result
    #expect(cancelled.outcome == .cancelled, "\(cancelled)")
    try await isCancelled.opened()
  }

  /// The request that asks has no connection meanwhile, so that the other one can have it.
  @Test func `a decision may send a request over the only connection`() async throws {
    let server = try ScriptedServer { request in
      if request.target == "/token" { return .good(body: "new") }
      return Self.accepts(request, "new") ? .good() : .good(401, headers: [Self.demand])
    }
    let url = server.url
    let holder = Guarded<TransferSession?>(nil)
    var decisions = Decisions()
    decisions.challenge = { _ in
      let session = holder.withLock { $0 }
      return .bearer(try await session?.get(url + "/token").text ?? "")
    }
    let session = try session(decisions, connections: 1)
    holder.withLock { $0 = session }
    let result = try await session.result(of: makeRequest(url))
    holder.withLock { $0 = nil }
    #expect(result.outcome == .ok, "\(String(describing: result.error))")
    #expect(server.requests.map(\.target) == ["/", "/token", "/"])
  }

  @Test func `a program can answer a challenge of Digest`() async throws {
    let server = try ScriptedServer { request in
      request.header("Authorization")?.hasPrefix("Digest username=\"me\"") == true
        ? .good() : .good(401, headers: [("WWW-Authenticate", "Digest realm=a, nonce=n, qop=auth")])
    }
    var decisions = Decisions()
    decisions.challenge = { _ in .digest(user: "me", password: "p") }
    let session = try session(decisions)
    for attempts in [2, 1] {
      let result = try await session.result(of: makeRequest(server.url))
      #expect(result.outcome == .ok && result.attempts == attempts)
    }
    decisions.challenge = { _ in .basic(user: "me", password: "p", onChallenge: true) }
    let other = try await self.session(decisions).result(of: makeRequest(server.url))
    #expect(other.outcome == .failed && other.attempts == 1)
  }

  // MARK: Redirects

  @Test func `a redirect that is kept is the response, and no success`() async throws {
    let server = try ScriptedServer { request in
      .good(Int(request.target.dropFirst()) ?? 404, headers: [("Location", "/end")], body: "there")
    }
    var decisions = Decisions()
    decisions.redirect = { _ in .keep }
    let session = try session(decisions)
    for (method, status, outcome, code) in [
      (HTTPMethod.post, 307, .failed, .redirectRefused), (.post, 303, .ok, nil),
      (.get, 302, .failed, .redirectRefused),
    ] as [(HTTPMethod, Int, TransferResult.Outcome, TransferError.Code?)] {
      let received = ReceivedText()
      var request = try makeRequest(
        method, "\(server.url)/\(status)", method == .get ? nil : .bytes("a".utf8))
      request.options.responseTarget = .stream { received.append($0) }
      let result = await session.result(of: request)
      #expect(result.outcome == outcome, "\(status)")
      #expect(result.error?.code == code)
      #expect(result.status == status)
      #expect(received.text == "there")
    }
    #expect(server.requests.map(\.target) == ["/307", "/303", "/302"])
    #expect(server.faults == [])
  }

  @Test func `a redirect that is not allowed is not asked about`() async throws {
    let log = Log()
    var decisions = Decisions()
    decisions.redirect = { _ in
      log.add("asked")
      return .follow
    }
    let server = try ScriptedServer { request in
      request.target == "/away"
        ? .good(307, headers: [("Location", "http://127.0.0.2:9/")])
        : .good(301, headers: [("Location", "/end")])
    }
    let session = try session(decisions)
    for target in ["/away", "/moved"] {
      let result = try await session.result(of: makeRequest(server.url + target))
      #expect(result.error?.code == .redirectRefused)
    }
    #expect(log.all == [])
    decisions.redirect = { _ in throw Refusal() }
    let local = try ScriptedServer { _ in .good(307, headers: [("Location", "/end")]) }
    let failed = try await self.session(decisions).result(of: makeRequest(local.url))
    #expect(failed.outcome == .failed && failed.error?.code == .decisionFailed)
    #expect(local.requests.count == 1)
  }
}

extension Credentials {
  /// Others each time.
  fileprivate static var random: Credentials { .bearer("\(UInt64.random(in: .min ... .max))") }
}
