public import FormStreamIntake

/// An upload that chooses the response, after all of the request has arrived.
public protocol RespondingUpload: Upload {
  /// Ends the upload, and returns the response: called instead of `end(_:)`.
  ///
  /// If the response is a refusal, the request counts as refused: its record says so, with the code `refused`, and the
  /// upload is released. In this case, store nothing.
  ///
  /// - Parameter parts: all parts in order, as for `end(_:)`.
  /// - Returns: nil for the receiver's own response, which is the record, or a page for browsers.
  /// - Throws: the same errors as `begin(_:)`.
  func respond(to parts: [ReceivedPart]) throws -> UploadResponse?
}

extension RespondingUpload {
  /// Ends the upload without sending the response, unless the response is a refusal. This method is called if another handler
  /// wraps the upload and doesn't ask for the response.
  ///
  /// - Throws: ``UploadRefusal`` if the response is a refusal. The refusal is sent if the other handler passes this error on.
  public func end(_ parts: [ReceivedPart]) throws {
    _ = try endAndRespond(parts)
  }
}

extension Upload {
  /// Ends the upload, and returns the upload's own response; nil if it has none.
  ///
  /// - Throws: ``UploadRefusal`` if the response is a refusal.
  func endAndRespond(_ parts: [ReceivedPart]) throws -> UploadResponse? {
    guard let upload = self as? any RespondingUpload else {
      try end(parts)
      return nil
    }
    let response = try upload.respond(to: parts)
    if let response, response.isRefusal { throw UploadRefusal(sending: response) }
    return response
  }
}

extension UploadHandler {
  /// This handler, with responses of your own.
  ///
  /// ```swift
  /// let handler = try DirectoryHandler("received").responding { upload in
  ///   guard upload.parts.contains(where: { $0.name == "title" }) else {
  ///     return try UploadResponse(status: 422, text: "The title is missing.")  // nothing is stored
  ///   }
  ///   try upload.store()  // now the parts have the names that they are stored under
  ///   return try UploadResponse(status: 201, headers: ["Location": "/photos/1"])
  /// }
  /// ```
  ///
  /// - Parameter respond: chooses the response after all of the request has arrived. If `respond` returns nil, the response of
  ///   this handler is sent, or the receiver's own response if this handler has none. If the response is not a refusal, the
  ///   upload is stored, unless `respond` has stored it. If `respond` throws an error, the upload is refused, as if a handler
  ///   had thrown the error. If this handler refuses the upload, its refusal is sent. `respond` is called from many threads at
  ///   once.
  public func responding(
    _ respond: @escaping @Sendable (CompleteUpload) throws -> UploadResponse?
  ) -> RespondingHandler<Self> {
    RespondingHandler(handler: self, respond: respond)
  }
}

/// A handler with responses of its own; see ``UploadHandler/responding(_:)``.
public struct RespondingHandler<Handler: UploadHandler>: UploadHandler {
  let handler: Handler
  let respond: @Sendable (CompleteUpload) throws -> UploadResponse?

  /// Whether the wrapped handler supports `If-None-Match`.
  public var supportsIfNoneMatch: Bool { handler.supportsIfNoneMatch }

  /// Begins an upload in the wrapped handler.
  public func begin(_ request: UploadRequest) throws -> any Upload {
    AnsweredUpload(try handler.begin(request), request, respond)
  }
}

/// An upload that has arrived completely, and is not stored yet.
public final class CompleteUpload {
  /// The head of the request.
  public let request: UploadRequest
  /// All parts, in order, text fields with their values. `storedAs` is nil before ``store()``.
  public private(set) var parts: [ReceivedPart]

  private let upload: any Upload
  private let sinks: [any PartSink]
  /// The result of storing: the response of the handler that stores, or an error. Nil before the upload is stored.
  private(set) var storing: Result<UploadResponse?, any Error>?

  init(
    _ request: UploadRequest, _ parts: [ReceivedPart], of upload: any Upload,
    _ sinks: [any PartSink]
  ) {
    (self.request, self.parts, self.upload, self.sinks) = (request, parts, upload, sinks)
  }

  /// Stores the upload: its files get their names. After this call the files stay, whatever the response is.
  ///
  /// - Throws: any error that the handler throws, and ``UploadRefusal`` if the handler's response is a refusal. If this
  ///   method throws, the upload is refused.
  public func store() throws {
    _ = try storeAndRespond()
  }

  /// Stores the upload, and returns the response of the handler that stores it; nil if it has none.
  func storeAndRespond() throws -> UploadResponse? {
    if let storing { return try storing.get() }
    let storing = Result { try upload.endAndRespond(parts) }
    self.storing = storing
    let response = try storing.get()
    // Each part that is not a short text field has a sink.
    var rest = sinks[...]
    for index in parts.indices where parts[index].value == nil {
      parts[index].storedAs = rest.popFirst()?.storedAs
    }
    return response
  }
}

private final class AnsweredUpload: RespondingUpload {
  private let upload: any Upload
  private let request: UploadRequest
  private let chooseResponse: (CompleteUpload) throws -> UploadResponse?
  private var sinks: [any PartSink] = []

  init(
    _ upload: any Upload, _ request: UploadRequest,
    _ respond: @escaping (CompleteUpload) throws -> UploadResponse?
  ) {
    (self.upload, self.request, chooseResponse) = (upload, request, respond)
  }

  func begin(_ part: PartDescription) throws -> any PartSink {
    let sink = try upload.begin(part)
    sinks.append(sink)
    return sink
  }

  func respond(to parts: [ReceivedPart]) throws -> UploadResponse? {
    let complete = CompleteUpload(request, parts, of: upload, sinks)
    let response: UploadResponse?
    do {
      response = try chooseResponse(complete)
    } catch {
      if case .success = complete.storing { throw ResponseFailure(cause: error) }
      throw error
    }
    if let response, response.isRefusal { return response }
    let inner = try complete.storeAndRespond()
    return response ?? inner
  }
}

/// The error of a handler that failed to respond after it had stored the upload.
struct ResponseFailure: Error, CustomStringConvertible {
  let cause: any Error
  var description: String { "the upload was stored, and responding failed: \(cause)" }
}
