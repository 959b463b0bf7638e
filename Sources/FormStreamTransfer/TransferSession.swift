public import FormStreamMultipart
import Foundation

/// Sends requests: keeps the connections, the threads that drive them, and what was learnt of servers.
///
/// ```swift
/// let session = try TransferSession()
/// let answer = try await session.send(TransferRequest(.post, url, body: .form(form)))
/// ```
///
/// One session serves a program. It may be used from any thread. When it is let go, its idle connections are
/// closed and its threads end; requests that are under way hold it.
public final class TransferSession: Sendable {
  /// What all requests of a session share.
  public struct Configuration: Sendable {
    /// How many threads drive requests; each keeps connections of its own.
    public var engines = 1
    /// How long a connection is kept that nobody uses.
    public var idleLimit: Duration = .seconds(15)
    /// How many such connections are kept on each engine.
    public var maximumIdleConnections = 64
    /// The size of the pieces in which bodies are handed over, from 16 KiB to 2 MiB.
    public var uploadBufferSize = 256 * 1024
    /// Which version of HTTP is spoken.
    public var version = Version.automatic
    /// Whom to trust, and as whom to come.
    public var tls = TLSSettings()
    /// A socket of this machine that all requests go to, whatever host their URL names.
    public var unixSocket: LocalPath?
    /// Addresses to take for hosts, before the resolver is asked.
    public var addresses: [HostAddress] = []
    /// What the `User-Agent` header says, unless a request has one of its own.
    public var userAgent = "FormStream"
    /// How many retries in a row the session allows itself; see ``RetryPolicy``. Each success earns some back,
    /// so that a server in trouble is not sent a multiple of what it gets when it is well.
    public var retryBudget = 100

    /// The usual settings.
    public init() {}

    /// Which version of HTTP is spoken.
    public struct Version: Hashable, Sendable {
      enum Kind: Hashable { case automatic, http11, http2 }
      let kind: Kind

      /// HTTP/2 where TLS finds that the server speaks it, else HTTP/1.1.
      public static let automatic = Version(kind: .automatic)
      /// HTTP/1.1 alone.
      public static let http11 = Version(kind: .http11)
      /// HTTP/2, also without TLS, where the server must be known to speak it.
      public static let http2 = Version(kind: .http2)
    }
  }

  /// What the session was made with.
  public let configuration: Configuration

  private let engines: [Engine]
  private let turn = Guarded(0)
  let budget: RetryBudget
  let hosts = HostMemory()

  /// - Throws: `invalidSetting`; `tlsFileUnusable`; `engineFailed`.
  public init(_ configuration: Configuration = Configuration()) throws(TransferError) {
    try configuration.check()
    self.configuration = configuration
    budget = RetryBudget(configuration.retryBudget)
    var engines: [Engine] = []
    for _ in 0..<configuration.engines {
      engines.append(try Engine(maximumIdleConnections: configuration.maximumIdleConnections))
    }
    self.engines = engines
  }

  deinit {
    for engine in engines { engine.stop() }
  }

  /// Starts a request and returns at once.
  public func start(_ request: TransferRequest) -> TransferTask {
    TransferTask(TransferRun(request, session: self, engine: nextEngine()))
  }

  /// Sends a request and waits for what becomes of it, which the result tells, whatever it is. It is called
  /// off when the task that waits is cancelled.
  ///
  /// - Parameter progress: told how far it is; called on some thread, one call after the other, the last one
  ///   before this returns.
  public func result(
    of request: TransferRequest, progress: (@Sendable (TransferProgress) -> Void)? = nil
  ) async -> TransferResult {
    let run = TransferRun(request, session: self, engine: nextEngine())
    // Listened to before it begins: nothing is missed.
    let steps = progress.map { _ in run.board.updates() }
    let task = TransferTask(run)
    return await withTaskCancellationHandler {
      guard let progress, let steps else { return await task.result }
      async let told: Void = { for await step in steps { progress(step) } }()
      let result = await task.result
      await told
      return result
    } onCancel: {
      task.cancel()
    }
  }

  /// Sends a request and waits for the answer that says it was carried out.
  ///
  /// - Throws: why the outcome is not `ok`. Whether the request may have been carried out all the same is
  ///   told by ``result(of:progress:)``.
  public func send(
    _ request: TransferRequest, progress: (@Sendable (TransferProgress) -> Void)? = nil
  ) async throws(TransferError) -> TransferResponse {
    try await result(of: request, progress: progress).answer()
  }

  private func nextEngine() -> Engine {
    let index = turn.withLock { turn in
      turn = (turn + 1) % engines.count
      return turn
    }
    return engines[index]
  }
}

/// Whom to trust, and as whom to come. TLS 1.2 is the least that is spoken.
public struct TLSSettings: Sendable, Hashable {
  /// The certificates of those who are trusted, in PEM; the system's where nil.
  public var authorities: LocalPath?
  /// The certificate that the client shows, in PEM.
  public var certificate: LocalPath?
  /// The key that belongs to it, in PEM; in the certificate's file where nil.
  public var key: LocalPath?
  /// Whether the server has to prove who it is. Without, anybody between may read and change everything.
  public var verifiesServer = true

  /// The system's authorities, no certificate.
  public init() {}
}

/// An address to take for a host and port.
public struct HostAddress: Sendable, Hashable {
  /// `HOST:PORT:ADDRESS`.
  package let text: String

  /// Takes `HOST:PORT:ADDRESS`, as in `example.org:443:127.0.0.1`; nil where it is not of that form.
  public init?(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, !parts[2].isEmpty, let port = Int(parts[1]),
      (1...65535).contains(port), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
    self.text = text
  }
}

extension TransferResult {
  /// The answer, where the request was carried out.
  fileprivate func answer() throws(TransferError) -> TransferResponse {
    if let error { throw error }
    guard let response else {
      throw TransferError(
        .engineFailed, on: url.description,
        "The request to \(url) ended with neither answer nor reason.")
    }
    return response
  }
}

extension TransferSession.Configuration {
  fileprivate func check() throws(TransferError) {
    guard (1...64).contains(engines) else {
      throw TransferError(
        .invalidSetting, on: "engines", "A session can't have \(engines) engines: give it 1 to 64.")
    }
    guard (16 * 1024...2 * 1024 * 1024).contains(uploadBufferSize) else {
      throw TransferError(
        .invalidSetting, on: "uploadBufferSize",
        "The upload buffer can't have \(uploadBufferSize) bytes: give it 16 KiB to 2 MiB.")
    }
    for (path, what) in [
      (tls.authorities, "authorities"), (tls.certificate, "certificate"), (tls.key, "key"),
    ] {
      guard let path, let reason = unreadable(path) else { continue }
      throw TransferError(
        .tlsFileUnusable, on: path.description,
        "The file \(path.description.quoted) for TLS (\(what)) can't be read: \(reason). Name a PEM file."
      )
    }
  }
}
