import FormStreamMultipart
import FormStreamRecords
import FormStreamIntake

extension UploadRefusal {
  /// Why a body that was begun is not taken, told by the error that came of it.
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
          ? "There is no room left for what was sent; nothing of this request was kept."
          : "There is no room left for what was sent; \(error.replacedCount) of its files had taken the place of others by "
            + "then, and stay.")
    case let error as StorageError where error.code == .tooManyOpen:
      self.init(
        .overloaded, status: 503,
        "Too many files are open here at once; nothing of this request was kept. Try again later.")
    default:
      // Paths and the like are the receiver's own business, not the client's.
      self.init(
        .handlingFailed, status: 500,
        "What was sent could not be kept; the receiver's log says why.")
    }
  }
}

extension UploadRefusal.Code {
  /// What is wrong with a body has the same name wherever it is found.
  init(_ code: MultipartError.Code) {
    self.init(rawValue: code.rawValue)
  }
}

extension RecordFailure {
  init(_ refusal: UploadRefusal) {
    self.init(code: refusal.code.rawValue, message: refusal.description)
  }
}
