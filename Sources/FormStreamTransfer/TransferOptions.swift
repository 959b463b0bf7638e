import Foundation
public import FormStreamMultipart

/// How a request is sent, and what is done with its answer.
public struct TransferOptions: Sendable {
  /// How often it is tried, and when again.
  public var retry = RetryPolicy()
  /// Where it may be sent on to.
  public var redirects = RedirectPolicy()
  /// Whether the server is asked before the body goes out.
  public var expectation = ContinuePolicy.automatic
  /// How long what may take.
  public var limits = TimeLimits()
  /// Where the answer's body goes.
  public var responseTarget = ResponseTarget.memory()
  /// Which statuses are a success; 200 to 299 where nil.
  public var acceptedStatuses: Set<Int>?
  /// Bytes a second that the body may take; no limit where nil.
  public var maximumRate: Int64?
  /// Under which key the server may know the request again, so that a second one does no second harm.
  public var idempotencyKey: IdempotencyKey?
  /// Whether the body is hashed as it goes out, for the result.
  public var computesDigest = false
  /// Whether the request bears a `Content-Digest` (RFC 9530). The body is read twice for it: once to be
  /// hashed, once to be sent.
  public var sendsDigest = false
  /// How often progress is told.
  public var progressPace = ProgressPace.smooth
  /// Told what goes over the wire, with secrets masked; called on the engine's thread, which waits for it.
  public var trace: (@Sendable (TransferTrace) -> Void)?

  /// What a request does unless told otherwise: one attempt, same origin only, an answer of up to 1 MiB.
  public init() {}
}

/// Whether the server is asked, by `Expect: 100-continue`, before the body goes out (RFC 9110 §10.1.1).
public struct ContinuePolicy: Hashable, Sendable {
  enum Kind: Hashable {
    case automatic, always, never
  }

  let kind: Kind
  /// How long the answer is waited for before the body goes out all the same.
  public var timeout: Duration = .seconds(1)

  /// For bodies over 1 MiB or of unknown length, unless the server has ignored the question before.
  public static let automatic = ContinuePolicy(kind: .automatic)
  /// For every body.
  public static let always = ContinuePolicy(kind: .always)
  /// For none.
  public static let never = ContinuePolicy(kind: .never)
}

/// How long what may take; no limit where nil.
public struct TimeLimits: Hashable, Sendable {
  /// To find and reach the server.
  public var connect: Duration? = .seconds(30)
  /// Without a byte going out or coming in. Waiting for a source that has nothing yet does not count, nor does
  /// a pause.
  public var stall: Duration? = .seconds(60)
  /// From the body's last byte to the answer's first.
  public var response: Duration? = .seconds(300)
  /// For an attempt in all.
  public var attempt: Duration?

  /// The usual limits.
  public init() {}
}

/// Where an answer's body goes.
public struct ResponseTarget: Sendable {
  enum Kind: Sendable {
    case memory(limit: Int)
    case file(LocalPath)
    case stream(@Sendable (UnsafeRawBufferPointer) throws -> Void)
  }

  let kind: Kind

  var isStream: Bool { if case .stream = kind { true } else { false } }
  var isMemory: Bool { if case .memory = kind { true } else { false } }

  /// Into the result, up to `limit` bytes; what is over it is read and dropped, and the result says so.
  public static func memory(limit: Int = 1024 * 1024) -> ResponseTarget {
    ResponseTarget(kind: .memory(limit: limit))
  }

  /// Into a file, whatever the status. It bears its name once it is whole; until then its name has `.part`
  /// behind it.
  public static func file(_ path: LocalPath) -> ResponseTarget {
    ResponseTarget(kind: .file(path))
  }

  /// To `take`, piece by piece, as it comes; called on one thread at a time, mostly the engine's, which waits
  /// for it. Only the
  /// final answer comes here, not that of a redirect or of an attempt that is repeated: an answer that broke
  /// off is not asked for again.
  public static func stream(
    _ take: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
  ) -> ResponseTarget {
    ResponseTarget(kind: .stream(take))
  }
}

/// The key under which a server may know a request again. It is sent quoted, as the draft of the
/// Idempotency-Key header has it, and is the same in every attempt.
public struct IdempotencyKey: Hashable, Sendable {
  /// The key, without quotes.
  public let value: String

  /// Takes a key; nil where it is empty, over 255 characters, or holds others than printable ASCII.
  public init?(_ value: String) {
    guard (1...255).contains(value.utf8.count),
      value.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
    else { return nil }
    self.value = value
  }

  private init(unchecked value: String) {
    self.value = value
  }

  /// A fresh UUID.
  public static func random() -> IdempotencyKey {
    IdempotencyKey(unchecked: UUID().uuidString.lowercased())
  }

  /// RFC 8941 §3.3.3: in a string, `"` and `\` have a backslash before them.
  package var fieldValue: String {
    "\""
      + value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }
}
