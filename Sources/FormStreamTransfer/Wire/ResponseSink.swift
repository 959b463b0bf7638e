import FormStreamMultipart
import FormStreamPlatform

/// The caller's file or closure, open for the body of a response. Everything may block.
enum ResponseSink {
  case file(AtomicFile, FileName)
  case stream((UnsafeRawBufferPointer) throws -> Void)

  /// Opens a target; returns nil if that is neither a file nor a closure.
  init?(_ target: ResponseTarget) throws {
    switch target.kind {
    case .memory, .reader: return nil
    case .stream(let receive): self = .stream(receive)
    case .file(let result):
      let path = try result.get()
      self = .file(try AtomicFile(for: path), path.name)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    switch self {
    case .file(let file, _): try file.write(bytes)
    case .stream(let receive): try receive(bytes)
    }
  }

  /// Moves a complete file to its destination, and discards an incomplete one.
  func finish(isComplete: Bool) throws {
    guard case .file(let file, let name) = self else { return }
    if isComplete { try file.replace(name) } else { file.discard() }
  }
}

extension ResponseTarget {
  /// How many bytes of a held response are kept, in case it turns out to be the last one.
  var heldLimit: Int {
    if case .memory(let limit) = kind { limit } else { 1024 * 1024 }
  }

  /// Delivers the body of a response that was held. An incomplete body doesn't become a file. This may block.
  func deliver(_ body: UnsafeRawBufferPointer, isComplete: Bool) throws {
    guard let sink = try ResponseSink(self) else { return }
    if !body.isEmpty { try sink.write(body) }
    try sink.finish(isComplete: isComplete)
  }
}

extension TransferError {
  static func responseNotStored(
    _ target: ResponseTarget, from url: HTTPURL, _ error: any Error
  ) -> TransferError {
    let destination =
      if case .file(.success(let path)) = target.kind { path.description } else {
        "the response's target"
      }
    return TransferError(
      .responseNotStored, on: destination,
      "The response from \(url) could not be written to \(destination.quoted): \(error).",
      underlying: error)
  }
}
