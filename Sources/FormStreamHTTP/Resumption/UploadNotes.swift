import FormStreamMultipart
import FormStreamPlatform

/// What the responses to an attempt say about an upload that can go on
/// (draft-ietf-httpbis-resumable-upload, interop version 8).
package struct UploadNotes: Sendable {
  static let interopVersion = "8"

  /// The resource that a 104 or a 201 names; nil if there is none.
  package var resource: HTTPURL?
  /// The last offset that a 104 confirmed; nil if none did.
  package var confirmed: Int64?
  /// Whether the final response says that the upload is complete; nil if it doesn't say so.
  package var isComplete: Bool?
  /// The offset in the final response; nil if it has none.
  package var offset: Int64?
  /// The length of the upload in the final response; nil if it has none.
  package var length: Int64?

  package init(
    resource: HTTPURL? = nil, confirmed: Int64? = nil, isComplete: Bool? = nil, offset: Int64? = nil,
    length: Int64? = nil
  ) {
    self.resource = resource
    self.confirmed = confirmed
    self.isComplete = isComplete
    self.offset = offset
    self.length = length
  }

  /// Notes the head of a 104. Returns whether it says something new.
  ///
  /// "Client implementations of draft versions of the protocol MUST ignore a 104 [...] with missing or mismatching interop
  /// version".
  mutating func noteInformational(_ headers: HTTPHeaders, from url: HTTPURL) -> Bool {
    guard headers["Upload-Draft-Interop-Version"] == Self.interopVersion else { return false }
    let (earlier, earlierResource) = (confirmed ?? 0, resource)
    if let location = headers.location, let named = try? url.resolving(location) {
      resource = resource ?? named
    }
    confirmed = headers.structuredInteger("Upload-Offset") ?? confirmed
    return confirmed ?? 0 > earlier || earlierResource == nil && resource != nil
  }

  /// Notes the head of the final response.
  mutating func noteFinal(_ headers: HTTPHeaders) {
    isComplete = headers.structuredBoolean("Upload-Complete")
    offset = headers.structuredInteger("Upload-Offset")
    length = headers.structuredInteger("Upload-Length")
  }
}

extension HTTPHeaders {
  /// The number in a header that is an integer which can't be negative (RFC 9651 §3.3.1); nil if the header is missing, repeated
  /// or something else: "Other values MUST cause the entire header field to be ignored."
  fileprivate func structuredInteger(_ name: String) -> Int64? {
    guard let text = structuredItem(name), text.isASCIIDigits, (1...15).contains(text.utf8.count) else {
      return nil
    }
    return Int64(text)
  }

  /// The value of a header that is a boolean (RFC 9651 §3.3.6); nil if the header is missing or something else.
  fileprivate func structuredBoolean(_ name: String) -> Bool? {
    switch structuredItem(name) {
    case "?1": true
    case "?0": false
    default: nil
    }
  }

  /// The item in a header without its parameters; nil if the header is missing, or sent more than once.
  private func structuredItem(_ name: String) -> String? {
    let values = fields.filter { $0.name.isSameHeaderName(as: name) }.map(\.value)
    guard values.count == 1 else { return nil }
    return String(values[0].prefix { $0 != ";" }.trimmingBlanks())
  }
}
