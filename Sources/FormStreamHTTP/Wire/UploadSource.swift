/// Where the engine reads a body from, on its own thread and without waiting.
protocol UploadSource: AnyObject {
  /// Reads bytes into `buffer`, as many as are there at once.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead
  /// Frees what the source holds. Nothing is read afterwards.
  func close()
}

/// The result of reading from an upload source.
enum UploadRead {
  /// At least one byte.
  case bytes(Int)
  case end
  /// No bytes yet; the source reports when there are some.
  case later
  case failed(TransferError)
}
