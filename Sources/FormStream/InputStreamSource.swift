import Foundation
import FormStreamMultipart

/// An `InputStream` as a source of bytes.
final class InputStreamSource: ByteSource {
  private let stream: InputStream

  init(_ stream: InputStream?) throws {
    guard let stream else { throw StreamFailure(description: "no stream was created") }
    self.stream = stream
    stream.open()
    if stream.streamStatus == .error { throw error }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let bytes = buffer.assumingMemoryBound(to: UInt8.self)
    guard let start = bytes.baseAddress else { return 0 }
    let count = stream.read(start, maxLength: bytes.count)
    guard count >= 0 else { throw error }
    return count
  }

  func close() {
    stream.close()
  }

  private var error: any Error {
    stream.streamError ?? StreamFailure(description: "the stream gives no reason")
  }
}

private struct StreamFailure: Error, CustomStringConvertible {
  let description: String
}
