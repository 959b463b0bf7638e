import FormStream
import FormStreamPlatform
import FormStreamTestSupport
import Foundation
import FormStreamTransfer

/// What the client said and what its server knows, at the end of a cell.
struct GridEvidence: Sendable {
  /// What a server knows about one attempt.
  struct Attempt: Sendable {
    var deed: GridServer.Deed
    /// The request as it arrived; nil if none did.
    var request: GridServer.Request?
    /// Whether it arrived completely, with exactly the bytes of the body.
    var isComplete: Bool
  }

  var cell: GridCell
  var result: TransferResult
  var attempts: [Attempt]
  var faults: [WireFault]
}

/// Runs cells.
struct GridRunner: Sendable {
  /// What the cells with TLS share: a proxy for all addresses, whose servers have one port.
  struct TLS: Sendable {
    let certificates: TestCertificates
    let proxy: TLSProxy
    let bareProxy: TLSProxy
    let serverPort: ReservedPort
  }

  let tls: TLS?
  /// Large files of zeros, and small ones.
  let place: TemporaryDirectory

  init(withTLS: Bool) throws {
    place = try TemporaryDirectory()
    guard withTLS else {
      tls = nil
      return
    }
    let certificates = try TestCertificates()
    // Of all addresses, so that no cell without TLS gets it at the address of a cell that needs it.
    let port = try ReservedPort()
    var options = TLSProxy.Options()
    options.host = "0.0.0.0"
    let proxy = try TLSProxy(to: port.number, certificates.server, options)
    options.omitsCloseNotify = true
    let bareProxy = try TLSProxy(to: port.number, certificates.server, options)
    tls = TLS(
      certificates: certificates, proxy: proxy, bareProxy: bareProxy, serverPort: port)
  }

  /// Plays one cell. Its silence ends after `limit`.
  ///
  /// - Parameter index: its own number, which makes its own address.
  func run(_ cell: GridCell, index: Int, limit: Duration) async throws -> GridEvidence {
    let host = "127.\(77 + index / 50_000).\(index / 250 % 200).\(index % 250 + 1)"
    let isDirect = [.connect, .handshake].contains(cell.first.moment)
    let task = Guarded<TransferTask<TransferResult>?>(nil)
    let port = cell.transport.isEncrypted && !isDirect ? tls?.serverPort.number ?? 0 : 0
    let isIdlePlay = cell.first.moment == .idle
    let server = try GridServer(
      on: .ip(host, port: port),
      GridServer.Settings(
        transport: cell.transport, plays: cell.plays, keepsConnection: cell.connection == .kept,
        idle: isIdlePlay ? cell.first : nil, inBody: (cell.request.size ?? 0) / 2,
        cancel: { task.withLock { $0?.cancel() } }))
    let file = try cell.request.size.map {
      cell.request.isLarge
        ? try place.sparse("\(index)", size: Int64($0))
        : try place.write("\(index)", Self.bytes($0))
    }

    var configuration = TransferSession.Configuration()
    configuration.idleLimit = .seconds(600)
    var url = server.url
    var clientPort = server.port
    if cell.transport == .http2 { configuration.version = .http2 }
    if let tls, cell.transport.isEncrypted {
      configuration.tls.authorities = LocalPath(tls.certificates.authority)
      let proxy = cell.transport == .bareTLS ? tls.bareProxy : tls.proxy
      if !isDirect { clientPort = proxy.port }
      url = "https://localhost:\(clientPort)"
      configuration.addresses = [HostAddress("localhost:\(clientPort):\(host)")].compactMap(\.self)
    }
    var session: TransferSession? = try TransferSession(configuration)

    if cell.connection == .kept {
      let warm = await session?.result(of: try TransferRequest(.get, url + "/warm"))
      guard warm?.outcome == .ok else {
        throw Unusable(cell: cell, what: "\(String(describing: warm?.error))")
      }
      if isIdlePlay {
        let port = clientPort
        server.isIdle.open()
        let isReadable = await onNewThread {
          waitUntilReadable(connectedTo: host, port: port)
        }
        if cell.plays.first?.moment == .connect { server.startListening(false) }
        guard isReadable else { throw Unusable(cell: cell, what: "the connection can't be read") }
      }
    }

    var request = try TransferRequest(cell.request.method, url + "/cell", body: body(cell, file))
    request.options.expectation = .never
    request.options.retry = RetryPolicy(attempts: cell.second == .none ? 1 : 2)
    request.options.retry.baseDelay = .milliseconds(1)
    request.options.retry.retriesUnsafe = cell.request == .postUnsafe
    if cell.request == .postWithKey {
      request.options.idempotencyKey = IdempotencyKey("key of cell \(index)")
    }
    request.options.timeLimits.attempt = .seconds(60)
    if cell.isSilent {
      // How long connecting takes on a busy machine matters only where it never ends.
      if isDirect { request.options.timeLimits.connect = limit }
      request.options.timeLimits.response = limit
      request.options.timeLimits.stall = limit
    }
    if cell.needsHook {
      request.options.trace = { trace in
        guard trace.kind == .note, trace.text.hasPrefix("Trying again") else { return }
        switch cell.second {
        case .cancelledBefore: task.withLock { $0?.cancel() }
        case .fileChanged:
          if let file { _ = try? writeFile(file, Array("changed".utf8)) }
        default: break
        }
        server.prepareForNext()
      }
    }
    let result: TransferResult
    do {
      let started = task.withLock { task -> TransferTask<TransferResult>? in
        task = session?.start(request)
        return task
      }
      guard let started else { throw Unusable(cell: cell, what: "no session") }
      result = await started.result
    }
    // The records are complete after the client's connections have ended.
    task.withLock { $0 = nil }
    session = nil
    let ended = await onNewThread { server.waitForEnds() }
    if let file { _ = withCPath(file.bytes) { unlink($0) } }
    guard ended else { throw Unusable(cell: cell, what: "a connection stays open") }
    server.noteRefused(attempts: result.attempts)
    return evidence(cell, result, server)
  }

  private func evidence(
    _ cell: GridCell, _ result: TransferResult, _ server: GridServer
  ) -> GridEvidence {
    let expected = cell.request.size.map { Self.bytes($0) } ?? []
    return GridEvidence(
      cell: cell, result: result,
      attempts: server.attempts.map { deed, request in
        let isComplete =
          request.map { request in
            request.isComplete && request.bodyCount == cell.request.size ?? 0
              && (cell.request.isLarge || request.body == expected)
          } ?? false
        return GridEvidence.Attempt(deed: deed, request: request, isComplete: isComplete)
      }, faults: server.faults)
  }

  private func body(_ cell: GridCell, _ file: LocalPath?) -> TransferBody? {
    guard let file, let size = cell.request.size else { return nil }
    if cell.request == .postChunked {
      return .part(.stream(length: nil) { ScriptedSource(Self.bytes(size)) })
    }
    return .file(file)
  }

  private static func bytes(_ count: Int) -> [UInt8] {
    (0..<min(count, 1 << 16)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
  }

  /// A cell that can't be played.
  struct Unusable: Error, CustomStringConvertible {
    let cell: GridCell
    let what: String
    var description: String { "\(cell): \(what)" }
  }
}

extension GridCell {
  /// What the server does with each attempt. A connection on which something has arrived before the request is not
  /// used, which costs no attempt.
  var plays: [GridPlay] {
    let second = [second.play].compactMap(\.self)
    if first.moment != .idle { return [first] + second }
    return second.isEmpty ? [Second.ok.play].compactMap(\.self) : second
  }

  /// Whether something happens between its attempts.
  var needsHook: Bool {
    first.moment == .connect || [.cancelledBefore, .fileChanged, .refused].contains(second)
  }
}
