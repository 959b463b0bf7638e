/// The source of a body. The engine reads it on the engine's thread, without waiting.
protocol UploadSource: AnyObject {
  /// Reads bytes into `buffer`, as many as are available without waiting.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead
  /// Frees the source's resources. Nothing is read afterwards.
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
