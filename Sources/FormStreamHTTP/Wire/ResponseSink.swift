import FormStreamMultipart
import FormStreamPlatform

/// The open target of a response's body: a file, a closure, a download, or the file of a response that became a download. All
/// methods may block.
enum ResponseSink {
  case file(AtomicFile, FileName)
  case stream((UnsafeRawBufferPointer) throws -> Void)
  case download(DownloadSink)
  case resumableFile(ResponseDownload, ResponseDownload.Opened)

  /// Opens a target for a response; returns nil for memory and for a reader, which are not opened.
  init?(_ target: ResponseTarget, for head: TransferResponse) throws {
    switch target.kind {
    case .memory, .reader: return nil
    case .download(let sink):
      sink.open(head)
      self = .download(sink)
    case .stream(let receive): self = .stream(receive)
    case .resumableFile(let settings, let download):
      guard let download else { throw SystemError.notOpen }
      self = .resumableFile(download, try download.open(settings, for: head))
    case .file(let result):
      let path = try result.get()
      try path.checkReplaceable(or: "a stream as the target can write to it")
      self = .file(try AtomicFile(for: path), path.name)
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    switch self {
    case .file(let file, _): try file.write(bytes)
    case .stream(let receive): try receive(bytes)
    case .download(let sink): try sink.write(bytes)
    case .resumableFile(let download, let opened): try download.write(bytes, to: opened)
    }
  }

  /// Moves a complete file to its destination, and discards an incomplete one.
  func finish(isComplete: Bool) throws {
    switch self {
    case .file(let file, let name):
      guard isComplete else { return file.discard() }
      try? file.setPermissions(replacing: name)
      try file.replace(name)
    case .stream: break
    case .download(let sink): try sink.finish(isComplete: isComplete)
    case .resumableFile(let download, let opened): try download.finish(opened, isComplete: isComplete)
    }
  }
}

extension ResponseTarget {
  /// How many bytes of a response are kept while it is held back, in case no other response follows.
  var heldLimit: Int {
    if case .memory(let limit) = kind { limit } else { Self.defaultLimit }
  }

  /// Delivers the body of a response that was held back. An incomplete body doesn't become a file. This may block.
  func deliver(_ held: TransferResponse) throws {
    guard let sink = try ResponseSink(self, for: held) else { return }
    do {
      if !held.body.isEmpty { try held.body.withUnsafeBytes { try sink.write($0) } }
    } catch {
      // A partial file would stay locked otherwise.
      try? sink.finish(isComplete: false)
      throw error
    }
    try sink.finish(isComplete: !held.isTruncated)
  }
}
