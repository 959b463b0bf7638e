/// Whether an upload goes on where it broke, and by which protocol.
///
/// A server that knows the protocol keeps the bytes that have arrived under a URL of their own. If the connection breaks, the
/// client asks that URL how many bytes there are, and sends the rest. An upload of which the server keeps nothing, because it
/// doesn't know the protocol, is sent as if this were ``none``.
///
/// An upload can go on only if the length of its body is known, and if all of the body can be read again. It goes on as often as
/// ``TransferOptions/retry`` allows attempts; attempts are counted anew whenever the server has received more.
public struct UploadResumption: Hashable, Sendable {
  enum Kind { case none, http }

  let kind: Kind

  /// The upload doesn't go on.
  public static let none = UploadResumption(kind: .none)
  /// By "Resumable Uploads for HTTP" (draft-ietf-httpbis-resumable-upload, interop version 8): the request is sent as always,
  /// with headers that offer the server to keep what arrives.
  public static let http = UploadResumption(kind: .http)
}
