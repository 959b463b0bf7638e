import FormStream
import Foundation

/// Reads files and memory, which don't block, on the engine's thread.
final class DirectUploadSource: UploadSource {
  private let stream: FormInputStream

  init(_ layout: BodyLayout) {
    stream = FormInputStream(layout)
    stream.open()
  }

  deinit { stream.close() }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead {
    stream.readOnce(into: buffer)
  }

  func close() {
    stream.close()
  }
}

extension FormInputStream {
  func readOnce(into buffer: UnsafeMutableRawBufferPointer) -> UploadRead {
    guard let start = buffer.assumingMemoryBound(to: UInt8.self).baseAddress else { return .end }
    let count = read(start, maxLength: buffer.count)
    if count > 0 { return .bytes(count) }
    if count == 0 { return .end }
    let error = streamError as? MultipartError
    return .failed(
      TransferError(
        error
          ?? MultipartError(
            .streamFailed, on: "the body", "The body's stream failed without a reason.")))
  }
}
