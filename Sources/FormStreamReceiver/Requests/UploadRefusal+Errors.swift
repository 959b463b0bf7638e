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
      self.init(
        .noRoom, status: 507,
        error.replacedCount == 0
          ? "The server has no room left. Nothing of this request was kept."
          : "The server has no room left. \(error.replacedCount) files of this request had already replaced others, "
            + "and are kept.")
    case let error as StorageError where error.code == .tooManyOpen:
      self.init(
        .overloaded, status: 503,
        "The server has too many files open. Nothing of this request was kept; try again later.")
    default:
      // The error may name paths of the server, which the client must not see.
      self.init(
        .handlingFailed, status: 500,
        "The upload could not be kept; the receiver's log says why.")
    }
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
