import FormStreamMultipart
import FormStreamPlatform
import FormStreamHTTP

extension MultipartError {
  /// Whether a file could not be opened because this process or the system has too many files open. The file is not at
  /// fault.
  var isOutOfDescriptors: Bool { (underlying as? SystemError)?.isOutOfDescriptors ?? false }
}

extension TransferResult {
  /// Whether a file of the body could not be opened because too many files are open, so that the request was not completed.
  var isOutOfDescriptors: Bool {
    (error?.underlying as? MultipartError)?.isOutOfDescriptors ?? false
  }
}
