import FormStreamMultipart
import FormStreamPlatform

/// Where the body of a response that is being received goes.
enum ResponseSink {
  case none
  /// Kept by the collector, up to `limit` bytes.
  case memory(limit: Int)
  case file(AtomicFile, FileName)
  case stream((UnsafeRawBufferPointer) throws -> Void)

  /// Opens the caller's target.
  init(_ target: ResponseTarget) throws {
    self =
      switch target.kind {
      case .memory(let limit): .memory(limit: limit)
      case .stream(let receive): .stream(receive)
      case .file(let path): .file(try AtomicFile(for: path), path.name)
      }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    switch self {
    case .file(let file, _): try file.write(bytes)
    case .stream(let receive): try receive(bytes)
    case .memory, .none: break
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

  /// Delivers the body of a response that was held. An incomplete body doesn't become a file.
  func deliver(_ body: UnsafeRawBufferPointer, isComplete: Bool) throws {
    switch kind {
    case .memory: break
    case .stream(let receive): if !body.isEmpty { try receive(body) }
    case .file(let path):
      guard isComplete else { return }
      let file = try AtomicFile(for: path)
      try file.write(body)
      try file.replace(path.name)
    }
  }
}

extension TransferError {
  static func responseNotStored(
    _ target: ResponseTarget, from url: HTTPURL, _ error: any Error
  ) -> TransferError {
    let destination =
      if case .file(let path) = target.kind { path.description } else { "the response's target" }
    return TransferError(
      .responseNotStored, on: destination,
      "The response from \(url) could not be written to \(destination.quoted): \(error).",
      underlying: error)
  }
}
