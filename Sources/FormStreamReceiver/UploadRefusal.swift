/// Why a request is not taken: what an ``UploadHandler`` throws to be answered with a status of its own, and what
/// the receiver itself answers with.
public struct UploadRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of refusal. The set is open.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code as it stands in records.
    public let rawValue: String

    /// Takes a code by its text.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The head of the request can't be right, or could be read in two ways.
    public static let badRequest = Code(rawValue: "bad-request")
    /// The head is larger than the limit.
    public static let headTooLarge = Code(rawValue: "head-too-large")
    /// The version of HTTP is none that is spoken here.
    public static let versionUnknown = Code(rawValue: "version-unknown")
    /// The token is missing, or another.
    public static let unauthorized = Code(rawValue: "unauthorized")
    /// A page of another site sent it.
    public static let foreignOrigin = Code(rawValue: "foreign-origin")
    /// There is nothing at that path.
    public static let notFound = Code(rawValue: "not-found")
    /// Only GET, HEAD, POST and PUT are taken.
    public static let methodNotAllowed = Code(rawValue: "method-not-allowed")
    /// A body must say how long it is, or be chunked.
    public static let lengthRequired = Code(rawValue: "length-required")
    /// The body is larger than the limit.
    public static let bodyTooLarge = Code(rawValue: "body-too-large")
    /// The body is compressed, which is not taken.
    public static let encodingUnsupported = Code(rawValue: "encoding-unsupported")
    /// The body came more slowly than the limit allows, or not at all.
    public static let tooSlow = Code(rawValue: "too-slow")
    /// The connection ended before the body did.
    public static let connectionLost = Code(rawValue: "connection-lost")
    /// The receiver is being stopped.
    public static let stopping = Code(rawValue: "stopping")
    /// There is more to do at once than can be done.
    public static let overloaded = Code(rawValue: "overloaded")
    /// There is no room for what came.
    public static let noRoom = Code(rawValue: "no-room")
    /// What came could not be stored, or handled.
    public static let handlingFailed = Code(rawValue: "handling-failed")
  }

  /// The kind of refusal.
  public let code: Code
  /// The status that it is answered with.
  public let status: Int
  /// A full sentence for the client.
  public let description: String

  /// A refusal with a status from 400 to 599; another is taken for 500.
  public init(_ code: Code, status: Int, _ description: String) {
    self.code = code
    self.status = (400...599).contains(status) ? status : 500
    self.description = description
  }
}
