extension TransferError {
  static let noThread = TransferError(
    .engineFailed, on: "a thread",
    "The system can't start another thread: raise the limits for memory and processes (ulimit).")

  package static let cancelledBeforeResponse = TransferError(
    .cancelled, on: "the request", "The request was cancelled before a response arrived.")

  package static let cancelledDuringResponse = TransferError(
    .cancelled, on: "the request", "The request was cancelled while its response arrived.")
}
