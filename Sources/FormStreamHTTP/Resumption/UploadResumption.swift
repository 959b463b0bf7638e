/// Whether an upload goes on where it broke, and by which protocol.
///
/// A server that knows the protocol keeps the bytes that have arrived under a URL of their own. If the connection breaks, the
/// client asks that URL how many bytes there are, and sends the rest.
///
/// An upload can go on only if the length of its body is known, and if all of the body can be read again. It goes on as often as
/// ``TransferOptions/retry`` allows attempts; attempts are counted anew whenever the server has received more. If a server
/// that keeps the upload doesn't respond, it is tried for as long as ``RetryPolicy/patience`` says.
public struct UploadResumption: Hashable, Sendable {
  enum Way: Sendable { case none, automatic, http, httpCreatedFirst, tus }

  let way: Way

  /// Whether the upload may go on.
  package var isChosen: Bool { way != .none }

  /// Whether the caller has chosen tus.
  package var isTus: Bool { way == .tus }

  /// Whether the caller has chosen the HTTP draft.
  package var isHTTP: Bool { way == .http || way == .httpCreatedFirst }

  /// Whether the caller has chosen that the first request only creates the upload, or finds it.
  package var isCreatedFirst: Bool { way == .httpCreatedFirst || way == .tus }

  /// Whether the server is asked which protocol it knows.
  package var isAutomatic: Bool { way == .automatic }

  /// The most bytes that one request sends; nil means as many as the server allows. Some servers, and some proxies in front of
  /// servers, refuse longer bodies.
  public var pieceSize: Int64?

  /// What a tus server is told about the upload in `Upload-Metadata`, beside the names and types that it is told anyway.
  /// Supabase needs `bucketName` and `objectName`, for example. If a name is repeated, the last value counts.
  public var metadata: [String: String] = [:]

  /// The upload doesn't go on.
  public static let none = UploadResumption(way: .none)

  /// The server is asked which protocol it knows, with OPTIONS. A server that knows none gets the request as with ``http``.
  public static let automatic = UploadResumption(way: .automatic)

  /// By "Resumable Uploads for HTTP" (draft-ietf-httpbis-resumable-upload, interop version 8): the request is sent as always,
  /// with headers that offer the server to keep what arrives. A server that doesn't know the protocol ignores them, and an
  /// upload that breaks off is then sent as if this were ``none``.
  ///
  /// The server tells the URL of the upload in an interim response (104), which not all servers can send, and which some proxies
  /// drop. ``httpCreatedFirst`` does without.
  public static let http = UploadResumption(way: .http)

  /// By the same protocol, but the upload is created by a request without a body, and its bytes follow in others. A server that
  /// doesn't know the protocol takes the first request for an empty upload, so this is only for servers that know it.
  public static let httpCreatedFirst = UploadResumption(way: .httpCreatedFirst)

  /// By tus 1.0. A POST creates the upload at the request's URL, and the bytes follow. With PUT, the request's URL is that of an
  /// upload that was created before, and has no bytes yet.
  ///
  /// To tus, an upload is one file. If the body is a form, the server keeps the encoded form.
  public static let tus = UploadResumption(way: .tus)

  private init(way: Way) {
    self.way = way
  }
}

/// The protocol by which an upload goes on.
package enum UploadProtocol: String, Sendable, Codable {
  case http
  case tus
}

/// How an upload begins.
package enum UploadStart: Sendable, Equatable {
  /// With the request itself, which offers the server to keep what arrives.
  case request
  /// With a request without a body that creates the upload.
  case creation(UploadProtocol)
}
