import FormStreamJSON
import FormStreamMultipart
import FormStreamPlatform

extension UploadRefusal.Code {
  /// A part of a resumable upload doesn't begin where the part before it ended.
  public static let mismatchingOffset = Self(rawValue: "mismatching-offset")
  /// The lengths that a client announced for a resumable upload differ from each other, or from what it sent.
  public static let inconsistentLength = Self(rawValue: "inconsistent-length")
  /// The receiver was ended while it processed a complete upload. The upload may be stored, or not.
  public static let outcomeUnknown = Self(rawValue: "outcome-unknown")
  /// Another receiver in the same directory is using the upload.
  public static let uploadInUse = Self(rawValue: "upload-in-use")
  /// The client has begun a newer request about the same upload.
  public static let superseded = Self(rawValue: "superseded")
}

/// Refusals of requests about resumable uploads. Their responses say that they don't come from processing the complete upload
/// (`Upload-Complete: ?0`).
extension UploadRefusal {
  static let noSuchUpload = UploadRefusal(
    .notFound, status: 404,
    "There is no upload at this URL: it is complete, was cancelled, has expired or never was. Begin a new upload.")

  /// Another receiver in the same directory has the upload open. It may complete it, so nobody may begin again.
  ///
  /// - Parameter seconds: how long ago the last byte arrived. When the other receiver has begun to use the upload is not known. If it has
  ///   copied a file since the last byte, it may take as long again.
  static func uploadInUse(for seconds: Int64) -> UploadRefusal {
    UploadRefusal(
      .uploadInUse, status: 503,
      "Another receiver is using the upload: ask again in a moment.", problem: nil,
      headers: ["Retry-After": "\(min(max(seconds, 1), 60))"])
  }

  /// draft-ietf-httpbis-resumable-upload §7.1
  static func mismatchingOffset(expected: Int64, provided: Int64) -> UploadRefusal {
    UploadRefusal(
      .mismatchingOffset, status: 409,
      "The part begins at byte \(provided), and the upload has \(counted(expected, "byte", "bytes")): send what follows.",
      problem: "mismatching-upload-offset", headers: ["Upload-Offset": "\(expected)"],
      members: [
        .init("expected-offset", .integer(expected)), .init("provided-offset", .integer(provided)),
      ])
  }

  /// draft-ietf-httpbis-resumable-upload §7.2
  static let inconsistentLength = UploadRefusal(
    .inconsistentLength, status: 400,
    "The lengths that were announced for the upload differ from each other, or from what was sent: announce the length of "
      + "the complete upload.",
    problem: "inconsistent-upload-length")

  /// The connection of a request was ended because the client went on with the upload on another one.
  static let superseded = UploadRefusal(
    .superseded, status: 409,
    "A newer request about the same upload has ended this one. What had arrived is kept.")

  /// A body is longer than it may be here.
  static func bodyTooLarge(_ limit: Int64) -> UploadRefusal {
    UploadRefusal(
      .bodyTooLarge, status: 413,
      "The body has more than \(counted(limit, "byte", "bytes")), which is the limit here: send less."
    )
  }

  static func badUploadRequest(_ sentence: String) -> UploadRefusal {
    UploadRefusal(.badRequest, status: 400, sentence, problem: nil)
  }

  /// A part with another type than that of parts (RFC 5789 §2.2).
  static let notPartialUpload = UploadRefusal(
    .badRequest, status: 415,
    "A part of an upload has the type application/partial-upload: send it as Content-Type.",
    problem: nil, headers: ["Accept-Patch": "application/partial-upload"])

  static func methodNotAllowedForUpload(_ method: String) -> UploadRefusal {
    UploadRefusal(
      .methodNotAllowed, status: 405,
      "The method \(method.quoted) is not supported for a resumable upload: use HEAD, PATCH or DELETE.",
      problem: nil, headers: ["Allow": "DELETE, GET, HEAD, OPTIONS, PATCH"])
  }

  /// There is no room for one more upload that isn't complete.
  static let tooManyUploads = UploadRefusal(
    .overloaded, status: 503,
    "Too many uploads have been begun here that are not complete: try again later, or send the complete body in one "
      + "request without Upload-Complete.",
    problem: nil, headers: ["Retry-After": "60"])

  static let noRoomForUpload = UploadRefusal(
    .noRoom, status: 507,
    "The uploads that are not complete take all the room that they may have here: try again later, or send less.",
    problem: nil)

  /// The receiver was ended between storing the upload and noting that.
  static let outcomeUnknown = UploadRefusal(
    .outcomeUnknown, status: 500,
    "The receiver was ended while it processed the upload, which may be stored or not: look for it before sending it again.")

  /// A refusal whose response is a problem (RFC 9457).
  ///
  /// - Parameter type: the last part of the problem's type; nil if none is registered.
  init(
    _ code: Code, status: Int, _ description: String, problem type: String?,
    headers: HTTPHeaders = [:], members: [JSONValue.Member] = []
  ) {
    let description = description.hidingUploadIDs
    let base = "https://iana.org/assignments/http-problem-types#"
    let problem = JSONValue.object(
      [
        .init("type", .string(type.map { base + $0 } ?? "about:blank")),
        .init("title", .string(description)), .init("status", .integer(Int64(status))),
      ] + members)
    var all: HTTPHeaders = [
      "Content-Type": "application/problem+json", "Upload-Complete": "?0",
      "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
    ]
    for header in headers { all.append(header) }
    self.init(
      code, status: status, description,
      sending: UploadResponse(ownStatus: status, headers: all, body: problem.line()))
  }
}
