import FormStreamTransfer

/// One cell of the grid: how a request is sent, and what its server does with each attempt.
struct GridCell: Sendable, CustomStringConvertible {
  enum Transport: String, CaseIterable, Sendable {
    case plain
    case tls
    /// TLS whose connections end without a close_notify.
    case bareTLS = "tls-bare"
    case http2

    var isEncrypted: Bool { self == .tls || self == .bareTLS }
  }

  enum Connection: String, CaseIterable, Sendable {
    case fresh
    /// The connection had a request and its response before.
    case kept
  }

  enum Request: String, CaseIterable, Sendable {
    case get = "GET"
    case delete = "DELETE"
    case put = "PUT"
    case post = "POST"
    case postWithKey = "POST+key"
    case postUnsafe = "POST+unsafe"
    case postEmpty = "POST-empty"
    case postChunked = "POST-chunked"
    case postLarge = "POST-large"
    case putLarge = "PUT-large"

    var method: HTTPMethod {
      switch self {
      case .get: .get
      case .delete: .delete
      case .put, .putLarge: .put
      default: .post
      }
    }

    /// How many bytes the body has; nil if there is none.
    var size: Int? {
      switch self {
      case .get, .delete: nil
      case .postEmpty: 0
      // Half of it is more than the buffers of both systems hold by default: 4 MiB here, and what the server's socket has.
      case .postLarge, .putLarge: 10 << 20
      default: 2000
      }
    }

    var changesSomething: Bool { self != .get }
    /// Whether the body exceeds what all buffers on the way to the server hold.
    var isLarge: Bool { self == .postLarge || self == .putLarge }
    /// Whether sending it twice does no harm, or the sender said so.
    var isRepeatable: Bool {
      switch self {
      case .get, .delete, .put, .putLarge, .postWithKey, .postUnsafe: true
      case .post, .postEmpty, .postChunked, .postLarge: false
      }
    }
  }

  /// What the second attempt meets.
  enum Second: String, CaseIterable, Sendable {
    /// There is one attempt.
    case none = "one-attempt"
    case ok = "200"
    case badRequest = "400"
    case conflict = "409"
    case tooMany = "429"
    case unavailable = "503"
    case refused, cut, silence
    /// It is cancelled in the wait before it.
    case cancelledBefore = "cancelled-before"
    case cancelled
    /// The body's file changes in the wait before it.
    case fileChanged = "file-changed"

    var play: GridPlay? {
      switch self {
      case .none, .cancelledBefore: nil
      case .ok, .fileChanged: .init(.afterBody, .respond(.status(200)))
      case .badRequest: .init(.afterBody, .respond(.status(400)))
      case .conflict: .init(.afterBody, .respond(.status(409)))
      case .tooMany: .init(.afterBody, .respond(.status(429)))
      case .unavailable: .init(.afterBody, .respond(.status(503)))
      case .refused: .init(.connect, .end(.close))
      case .cut: .init(.afterBody, .end(.close))
      case .silence: .init(.afterBody, .end(.silence))
      case .cancelled: .init(.afterBody, .end(.cancel))
      }
    }
  }

  var transport: Transport
  var connection: Connection
  var request: Request
  var first: GridPlay
  var second: Second

  /// The name by which one cell can be run alone: `FORMSTREAM_GRID='plain fresh POST after-body:close 503'`.
  var description: String {
    "\(transport.rawValue) \(connection.rawValue) \(request.rawValue) \(first) \(second.rawValue)"
  }

  /// Whether something in it ends by a time limit.
  var isSilent: Bool { first.isSilent || second == .silence }
}
