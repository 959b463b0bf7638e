import FormStreamMultipart
import FormStreamPlatform

/// The names and values of tus 1.0.0 (tus.io/protocols/resumable-upload), an older protocol for resumable uploads with many
/// clients.
enum TusProtocol {
  static let version = "1.0.0"
  static let header = "Tus-Resumable"
  /// The header of the response to a complete upload with its record, in base 64. It is our own: tus has nothing like it.
  static let recordHeader = "Upload-Record"
  static let partType = "application/offset+octet-stream"
  /// The extensions that are supported.
  static let extensions =
    "creation,creation-defer-length,creation-with-upload,checksum,expiration,termination"
  /// The header with the digest of the bytes of a request, and the algorithms that it may name.
  static let checksumHeader = "Upload-Checksum"
  static let sha1 = "sha1"
  static let sha256 = "sha256"
}

extension RequestHead {
  /// Whether the client speaks tus.
  var isTus: Bool { !values(of: TusProtocol.header).isEmpty }

  /// The method that a client means at the URL of an upload: "The X-HTTP-Method-Override request header … MUST be interpreted as
  /// the request's method by the Server, if the header is presented."
  var tusMethod: String {
    guard isTus, method == "POST" else { return method }
    return values(of: "X-HTTP-Method-Override").first ?? method
  }

  /// The head that an upload by tus is processed with: its type is that of the file, not that of the request.
  var tusOrigin: RequestHead {
    let other = without("Content-Type").without(AnnouncedDigest.contentHeader)
    guard let type = tusMetadata("filetype") ?? tusMetadata("type"),
      HTTPSyntax.isFieldValue(Array(type.utf8))
    else { return other }
    var fields = other.fields
    fields.append("Content-Type", type)
    return RequestHead(
      method: method, target: target, version: version, fields: fields, isPlain: isPlain)
  }

  /// The name of the file; nil if the client gives none.
  var tusFilename: String? { tusMetadata("filename") ?? tusMetadata("name") }

  /// The value of a key in `Upload-Metadata`: "one or more comma-separated key-value pairs. The key and value MUST be separated
  /// by a space. … The value MUST be Base64 encoded."
  private func tusMetadata(_ key: String) -> String? {
    for line in values(of: "Upload-Metadata") {
      for pair in line.utf8.split(separator: UInt8(ascii: ",")) {
        let words = pair.split(separator: UInt8(ascii: " "))
        guard words.count == 2, words[0].elementsEqual(key.utf8),
          let bytes = base64Decoded(Substring(words[1]))
        else { continue }
        return String(decoding: bytes, as: UTF8.self)
      }
    }
    return nil
  }
}

extension Response {
  /// How much of an upload has arrived.
  static func tusProgress(
    offset: Int64, length: Int64?, of origin: RequestHead?, secondsLeft: Int64
  ) -> Response {
    var headers: HTTPHeaders = ["Upload-Offset": "\(offset)"]
    if let length {
      headers.append("Upload-Length", "\(length)")
    } else {
      headers.append("Upload-Defer-Length", "1")
    }
    for value in origin?.values(of: "Upload-Metadata") ?? [] {
      headers.append("Upload-Metadata", value)
    }
    headers.append("Upload-Expires", httpDate(after: secondsLeft))
    return .uploads(200, headers)
  }
}

extension UploadRefusal {
  /// A request with another version of tus: "If the version specified by the Client is not supported by the Server, it MUST respond
  /// with the 412 Precondition Failed status and MUST include the Tus-Version header".
  static let tusVersionUnknown = UploadRefusal(
    .versionUnknown, status: 412,
    "This version of tus is not supported: use \(TusProtocol.version).", problem: nil,
    headers: ["Tus-Version": TusProtocol.version])

  /// A part with another type than that of parts.
  static let notTusPart = UploadRefusal(
    .badRequest, status: 415,
    "A part of an upload has the type \(TusProtocol.partType): send it as Content-Type.", problem: nil)

  static let unusableChecksum = UploadRefusal(
    .badRequest, status: 400,
    "The Upload-Checksum can't be checked: send \(TusProtocol.sha1) or \(TusProtocol.sha256), a space, and the digest in base "
      + "64.", problem: nil)

  /// "If … the checksums mismatch … 460 Checksum Mismatch".
  static let checksumMismatch = UploadRefusal(
    .digestMismatch, status: 460,
    "The bytes of this request don't have the announced Upload-Checksum: they were changed on their way. None of them was kept, so "
      + "send them again.", problem: nil)

  static let noTusLength = UploadRefusal(
    .badRequest, status: 400,
    "The request has neither a valid Upload-Length nor \"Upload-Defer-Length: 1\": send one of them.",
    problem: nil)
}
