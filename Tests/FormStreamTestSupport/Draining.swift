public import Foundation
public import FormStreamMultipart

/// A read that violated the contract of readers.
public struct ReaderContractViolation: Error {
  /// How it violated the contract.
  public let what: String
}

/// Reads the rest of a body with a buffer of `chunk` bytes.
public func drain(_ reader: BodyReader, chunk: Int) throws -> [UInt8] {
  var body: [UInt8] = []
  let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: chunk, alignment: 1)
  defer { buffer.deallocate() }
  while true {
    let count = try reader.read(into: buffer)
    guard (0...chunk).contains(count) else {
      throw ReaderContractViolation(what: "read gave \(count)")
    }
    if count == 0 { return body }
    body.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
  }
}

/// Opens a stream if it is not open, and reads it to its end with a buffer of `chunk` bytes.
///
/// - Throws: the stream's error if a read returns -1.
public func drain(_ stream: InputStream, chunk: Int) throws -> [UInt8] {
  if stream.streamStatus == .notOpen { stream.open() }
  var body: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: chunk)
  while stream.hasBytesAvailable {
    let count = stream.read(&buffer, maxLength: chunk)
    if count < 0 {
      throw stream.streamError ?? ReaderContractViolation(what: "-1 without streamError")
    }
    guard count <= chunk else { throw ReaderContractViolation(what: "read gave \(count)") }
    if count == 0 { break }
    body.append(contentsOf: buffer[..<count])
  }
  return body
}
