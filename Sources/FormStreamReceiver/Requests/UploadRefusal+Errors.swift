import FormStreamIntake
import FormStreamMultipart
import FormStreamRecords

extension UploadRefusal {
  /// The refusal that an error in the middle of a body leads to.
  init(_ error: any Error) {
    switch error {
    case let refusal as UploadRefusal: self = refusal
    case let error as MultipartError:
      let status = error.code == .limitExceeded ? 413 : 400
      self.init(Code(error.code), status: status, error.description)
    case let error as StorageError where error.code == .noRoom:
      self.init(.noRoom, status: 507, "The server has no room left. \(error.remains)")
    case let error as StorageError where error.code == .tooManyOpen:
      self.init(
        .overloaded, status: 503,
        "The server has too many files open; try again later. \(error.remains)")
    case let error as StorageError where error.code == .nameTaken:
      self.init(
        .preconditionFailed, status: 412,
        "The name is taken, and the upload may only be stored under a free one. \(error.remains)")
    case let error as StorageError:
      // The error names paths of the server, which the client must not see.
      self.init(
        .handlingFailed, status: 500,
        "The upload could not be kept; the receiver's log says why. \(error.remains)")
    case is ResponseFailure:
      self.init(
        .handlingFailed, status: 500,
        "The upload was stored, but the response to it could not be made; the receiver's log says why."
      )
    default:
      // The error may name what the client must not see.
      self.init(
        .handlingFailed, status: 500,
        "The upload could not be kept; the receiver's log says why.")
    }
  }
}

extension StorageError {
  /// What is stored of the request after the error.
  fileprivate var remains: String {
    kept.isEmpty
      ? "Nothing of this request was kept."
      : "\(kept.count) of its files had already replaced another, or could not be removed: they are stored, and the "
        + "record has their names."
  }
}

extension UploadRefusal.Code {
  /// A flaw of a body has the same code in every record.
  init(_ code: MultipartError.Code) {
    self.init(rawValue: code.rawValue)
  }
}

extension RecordFailure {
  init(_ refusal: UploadRefusal) {
    self.init(code: refusal.code.rawValue, message: refusal.description)
  }
}
