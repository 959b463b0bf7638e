import FormStreamIntake
import FormStreamMultipart

/// A response with status 4xx or 5xx, and its reason. An ``UploadHandler`` throws this error to refuse a request. The
/// receiver uses it for its own refusals too.
public struct UploadRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of refusal. The set is open.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The code as written in records.
    public let rawValue: String

    /// Creates a code from its text.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// The head of the request is invalid, or can be read in two ways.
    public static let badRequest = Code(rawValue: "bad-request")
    /// The head is larger than the limit.
    public static let headTooLarge = Code(rawValue: "head-too-large")
    /// The version of HTTP is not supported.
    public static let versionUnknown = Code(rawValue: "version-unknown")
    /// The token is missing or wrong.
    public static let unauthorized = Code(rawValue: "unauthorized")
    /// A page of another site sent the request.
    public static let foreignOrigin = Code(rawValue: "foreign-origin")
    /// There is nothing at the path.
    public static let notFound = Code(rawValue: "not-found")
    /// The body is only a part of a file.
    public static let partialUpload = Code(rawValue: "partial-upload")
    /// The body does not have the digest that the client announced.
    public static let digestMismatch = Code(rawValue: "digest-mismatch")
    /// The client wants to upload only under a free name, and the name is taken.
    public static let preconditionFailed = Code(rawValue: "precondition-failed")
    /// The request has a condition that the receiver can't check.
    public static let conditionUnsupported = Code(rawValue: "condition-unsupported")
    /// The method is not GET, HEAD, POST or PUT.
    public static let methodNotAllowed = Code(rawValue: "method-not-allowed")
    /// The body has neither a length nor chunks.
    public static let lengthRequired = Code(rawValue: "length-required")
    /// The body is larger than the limit.
    public static let bodyTooLarge = Code(.bodyTooLarge)
    /// The body is compressed, which is not supported.
    public static let encodingUnsupported = Code(rawValue: "encoding-unsupported")
    /// The body arrived more slowly than the limit allows, or not at all.
    public static let tooSlow = Code(rawValue: "too-slow")
    /// The connection ended before the body did.
    public static let connectionLost = Code(rawValue: "connection-lost")
    /// The receiver is stopping.
    public static let stopping = Code(rawValue: "stopping")
    /// The server is overloaded.
    public static let overloaded = Code(rawValue: "overloaded")
    /// The server has no room for the upload.
    public static let noRoom = Code(rawValue: StorageError.Code.noRoom.rawValue)
    /// The handler refused the upload with a response of its own.
    public static let refused = Code(rawValue: "refused")
    /// The upload could not be stored or handled.
    public static let handlingFailed = Code(rawValue: "handling-failed")
  }

  /// The kind of refusal.
  public let code: Code
  /// The response's status.
  public let status: Int
  /// A full sentence for the client.
  public let description: String
  /// The handler's own response, which is sent to the client; nil for the receiver's own response.
  let response: UploadResponse?

  /// Creates a refusal.
  ///
  /// - Parameters:
  ///   - code: the kind of refusal; it is in the record that the client receives.
  ///   - status: from 400 to 599; any other value becomes 500.
  ///   - description: a full sentence for the client.
  public init(_ code: Code, status: Int, _ description: String) {
    self.code = code
    self.status = (400...599).contains(status) ? status : 500
    // The sentence may quote the URL of an upload, and is logged.
    self.description = description.hidingUploadIDs
    response = nil
  }

  /// A refusal with a response of its own.
  init(_ code: Code, status: Int, _ description: String, sending response: UploadResponse) {
    (self.code, self.status, self.response) = (code, status, response)
    self.description = description.hidingUploadIDs
  }

  /// The refusal that stands for a handler's own response.
  init(sending response: UploadResponse) {
    code = .refused
    status = response.status
    description = "The upload was refused with status \(response.status)."
    self.response = response
  }
}
