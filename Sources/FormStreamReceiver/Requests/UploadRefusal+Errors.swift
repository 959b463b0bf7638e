import FormStreamIntake
import FormStreamMultipart

extension UploadRefusal {
  /// The refusal for an error in the middle of a body.
  ///
  /// - Parameter remains: a sentence about what stays stored if storing failed; nil for the files that the error names.
  init(_ error: any Error, remains: String? = nil) {
    switch error {
    case let refusal as UploadRefusal: self = refusal
    case let error as MultipartError:
      let status = error.code == .limitExceeded ? 413 : 400
      self.init(Code(error.code), status: status, error.descriptionForSenders)
    case let error as StorageError where !error.kept.isEmpty:
      // Whatever the cause is, a client must not be asked to repeat the request: it would store these files twice.
      self.init(
        .handlingFailed, status: 500,
        "Not all of the upload could be kept; the receiver's log says why. \(remains ?? error.remains)")
    case let error as StorageError where error.code == .noRoom:
      self.init(.noRoom, status: 507, "The server has no room left. \(remains ?? error.remains)")
    case let error as StorageError where error.code == .tooManyOpen:
      self.init(
        .overloaded, status: 503,
        "The server has too many files open; try again later. \(remains ?? error.remains)")
    case let error as StorageError where error.code == .nameTaken:
      self.init(
        .preconditionFailed, status: 412,
        "The name is taken, and the upload may only be stored under a free one. \(remains ?? error.remains)")
    case let error as StorageError:
      // The error names paths of the server, which the client must not see.
      self.init(
        .handlingFailed, status: 500,
        "The upload could not be kept; the receiver's log says why. \(remains ?? error.remains)")
    case is ResponseFailure:
      self.init(
        .handlingFailed, status: 500,
        "The upload was stored, but the response to it could not be made; the receiver's log says why."
      )
    case is GetFailure:
      self.init(
        .handlingFailed, status: 500,
        "The response could not be made; the receiver's log says why.")
    default:
      // The error may mention details that the client must not see.
      self.init(
        .handlingFailed, status: 500,
        "The upload could not be kept; the receiver's log says why.")
    }
  }
}

/// The error of a program that failed to respond to a GET.
struct GetFailure: Error, CustomStringConvertible {
  let cause: any Error
  var description: String { "responding to the GET failed: \(cause)" }
}

extension MultipartError {
  /// The description for clients, who can't raise a limit of the receiver themselves.
  fileprivate var descriptionForSenders: String {
    message.text { $0 is FormParser.Limits.Remedy ? "that is the limit here; " : $0.description }
  }
}

extension StorageError {
  /// A sentence about the files of the request that stay stored after the error.
  fileprivate var remains: String {
    kept.isEmpty
      ? "Nothing of this request was kept."
      : "\(kept.count) of its files had already replaced another, or could not be removed: they are stored, and the "
        + "record has their names."
  }
}

extension UploadRefusal {
  /// The refusal of a request that was not read, because the receiver is stopping.
  static let receiverStops = UploadRefusal(
    .stopping, status: 503, "The receiver is stopping: try again later, or another server.")

  /// The refusal of a client whose address has as many connections as it may have.
  static let tooManyConnections = UploadRefusal(
    .overloaded, status: 503,
    "This address has too many connections here that are in use: use fewer at once, or try again later."
  )

  /// The refusal of a request that libmicrohttpd refuses itself with this status, because it can't read the head.
  init(unreadableHead status: Int) {
    switch status {
    case 413:
      self.init(
        .bodyTooLarge, status: status, "The Content-Length is above 64 bits: send 1 to 18 digits.")
    case 414, 431:
      self.init(
        .headTooLarge, status: status,
        "The request's head is too large to be read: send fewer or shorter headers.")
    case 505:
      self.init(.versionUnknown, status: status, "The version is not supported: use HTTP/1.1.")
    default:
      self.init(
        .badRequest, status: status,
        "The request's head can't be read: a line has no colon, or the Content-Length is no number."
      )
    }
  }
}

extension UploadRefusal {
  /// The refusal of a request that libmicrohttpd refuses itself with this status, because it can't read the chunks of the
  /// body.
  init(unreadableChunks status: Int, at offset: Int64) {
    switch status {
    case 413:
      self.init(
        .bodyTooLarge, status: status,
        "At byte \(offset) of the body, the size of a chunk is above 64 bits: send smaller chunks.")
    case 431:
      self.init(
        .headTooLarge, status: status,
        "The trailers after the body are too large to be read: send none.")
    default:
      self.init(
        Code(MultipartError.Code.malformedBody), status: 400,
        "The chunks of the body are malformed at byte \(offset) of its contents, or in the trailers: send chunks as "
          + "RFC 9112 defines them, with short lines.")
    }
  }
}

extension UploadRefusal.Code {
  /// Takes over the code of a ``MultipartError``, so that a flaw of a body has the same code in every record.
  init(_ code: MultipartError.Code) {
    self.init(rawValue: code.rawValue)
  }
}

extension ReceivedForm.Failure {
  init(_ refusal: UploadRefusal) {
    self.init(code: refusal.code.rawValue, message: refusal.description)
  }
}
