import FormStreamMultipart

/// The head of a final response, at the time when it has arrived.
struct ArrivedHead: Sendable {
  let status: Int
  let headers: HTTPHeaders
  /// The version of HTTP.
  let version: String
  /// What this response, and informational ones before it, say about an upload that can go on.
  let upload: UploadNotes
}
