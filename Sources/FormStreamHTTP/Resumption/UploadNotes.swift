import FormStreamMultipart
import FormStreamPlatform

/// What the responses to an attempt say about an upload that can go on: by draft-ietf-httpbis-resumable-upload, interop
/// version 8, or by tus 1.0, which use the same names for the same things.
package struct UploadNotes: Sendable {
  static let interopVersion = "8"

  /// The resource that a 104 or a 201 names; nil if there is none.
  package var resource: HTTPURL?
  /// The last offset that a 104 confirmed; nil if none did.
  package var confirmed: Int64?
  /// Whether the final response says that the upload is complete; nil if it doesn't say so. tus has no such header.
  package var isComplete: Bool?
  /// Whether the final response says several things about that, and one of them is no.
  package var deniesAmongOthers = false
  /// The offset in the final response; nil if it has none.
  package var offset: Int64?
  /// The length of the upload in the final response; nil if it has none.
  package var length: Int64?
  /// Whether the server waits for the length of an upload (tus: `Upload-Defer-Length: 1`).
  package var defersLength = false
  /// The most bytes that one request may append; nil if the server names no limit.
  package var largestPiece: Int64?
  /// The most bytes that an upload may have; nil if the server names no limit.
  package var largestUpload: Int64?
  /// How a server wants uploads to begin that says so in its response to OPTIONS; nil if it knows no protocol.
  package var start: UploadStart?

  package init(
    resource: HTTPURL? = nil, confirmed: Int64? = nil, isComplete: Bool? = nil, offset: Int64? = nil,
    length: Int64? = nil, largestPiece: Int64? = nil, largestUpload: Int64? = nil,
    start: UploadStart? = nil
  ) {
    self.resource = resource
    self.confirmed = confirmed
    self.isComplete = isComplete
    self.offset = offset
    self.length = length
    self.largestPiece = largestPiece
    self.largestUpload = largestUpload
    self.start = start
  }

  /// Whether the server doesn't know the length of an upload that it was asked about.
  ///
  /// tus: "If the size of the upload is known, the Server MUST include the Upload-Length header in the response."
  ///
  /// - Parameter isGiven: whether somebody else has created the upload, perhaps without a length.
  func lacksLength(isGiven: Bool) -> Bool { defersLength || isGiven && length == nil }

  /// Notes the head of a 104. Returns whether it says something new that can be true.
  ///
  /// "Client implementations of draft versions of the protocol MUST ignore a 104 [...] with missing or mismatching interop
  /// version".
  ///
  /// - Parameter read: how many bytes of the body were read; the server can't have more.
  mutating func noteInformational(_ headers: HTTPHeaders, from url: HTTPURL, read: Int64) -> Bool {
    guard headers["Upload-Draft-Interop-Version"] == Self.interopVersion else { return false }
    let (earlier, earlierResource) = (confirmed ?? 0, resource)
    resource = resource ?? headers.resource(at: url)
    confirmed = headers.structuredInteger("Upload-Offset") ?? confirmed
    largestPiece = headers.largestPiece ?? largestPiece
    return earlier < confirmed ?? 0 && confirmed ?? 0 <= read || earlierResource == nil && resource != nil
  }

  /// Notes the head of the final response.
  mutating func noteFinal(_ status: Int, _ headers: HTTPHeaders, from url: HTTPURL) {
    if status == 201 { resource = resource ?? headers.resource(at: url) }
    isComplete = headers.structuredBoolean("Upload-Complete")
    deniesAmongOthers = isComplete == nil && headers.structuredList("Upload-Complete").contains("?0")
    offset = headers.structuredInteger("Upload-Offset")
    length = headers.structuredInteger("Upload-Length")
    defersLength = headers.structuredInteger("Upload-Defer-Length") == 1
    largestPiece = headers.largestPiece ?? largestPiece
    // A server that is asked first has no reason to tell the URL in an interim response, which can be lost on the way.
    if headers.uploadLimit != nil {
      start = .creation(.http)
      largestUpload = headers.uploadLimit?.values["max-size"]?.integer
    } else if headers["Tus-Version"]?.split(separator: ",").contains(where: {
      String($0).trimmingBlanks() == Tus.version
    }) == true {
      start = .creation(.tus)
      largestUpload = headers.structuredInteger("Tus-Max-Size")
    }
  }
}

extension HTTPHeaders {
  fileprivate func resource(at url: HTTPURL) -> HTTPURL? {
    guard let location, var named = try? url.resolving(location) else { return nil }
    // Whoever knows the URL of an upload may be able to change the upload.
    named.isSecret = true
    return named
  }

  /// "`max-append-size`: Specifies a maximum size that the server supports for the content in a request appending to the upload
  /// resource". The draft has no exception for the request that creates the upload.
  fileprivate var largestPiece: Int64? {
    uploadLimit?.values["max-append-size"]?.integer.flatMap { $0 > 0 ? $0 : nil }
  }

  fileprivate var uploadLimit: StructuredDictionary? {
    joined("Upload-Limit").flatMap { StructuredDictionary($0) }
  }

  /// The number in a header that is an integer which can't be negative (RFC 9651 §3.3.1); nil if the header is missing, repeated
  /// or something else: "Other values MUST cause the entire header field to be ignored."
  fileprivate func structuredInteger(_ name: String) -> Int64? {
    structuredItem(name)?.integer.flatMap { $0 >= 0 ? $0 : nil }
  }

  /// The value of a header that is a boolean (RFC 9651 §3.3.6); nil if the header is missing or something else.
  fileprivate func structuredBoolean(_ name: String) -> Bool? { structuredItem(name)?.boolean }

  /// The members of a header that may be a list, without their parameters.
  ///
  /// RFC 9651 §4.2: "treated as if the field were not present" holds for a field that can't be parsed. But by RFC 9110 §5.3, two
  /// lines with one value each are the same as one line with both.
  fileprivate func structuredList(_ name: String) -> [String] {
    (joined(name) ?? "").split(separator: ",").map { member in
      String(String(member.prefix { $0 != ";" }).trimmingBlanks())
    }
  }

  private func structuredItem(_ name: String) -> StructuredDictionary.Value? {
    let lines = fields.filter { $0.name.isSameHeaderName(as: name) }
    return lines.count == 1 ? StructuredDictionary.item(lines[0].value) : nil
  }
}
