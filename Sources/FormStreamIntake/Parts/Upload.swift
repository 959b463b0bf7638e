/// Receives the parts of one request: files, bodies that are not forms, and text fields of more than
/// `Receiver.Limits.textField` bytes. Shorter text fields are kept, and passed to ``end(_:)``.
///
/// All calls come from the thread of the request's connection. If the request fails, the upload is released without
/// `end(_:)`: clean up in `deinit`.
public protocol Upload: AnyObject {
  /// Begins a part. All earlier parts have ended.
  ///
  /// - Throws: an `UploadRefusal` to choose the response; any other error is answered with status 500.
  func begin(_ part: PartDescription) throws -> any PartSink
  /// Ends the upload: all parts are complete. Files can now be moved to their final names.
  ///
  /// - Parameter parts: all parts in order, text fields with their values. `storedAs` may still be nil.
  /// - Throws: the same errors as ``begin(_:)``.
  func end(_ parts: [ReceivedPart]) throws
}

/// Receives the bytes of one part.
public protocol PartSink: AnyObject {
  /// Consumes the next bytes, which are valid only during the call.
  func write(_ bytes: UnsafeRawBufferPointer) throws
  /// Ends the part, which is complete. The rest of the request may still fail.
  func end() throws
  /// The name that the part is stored under, for the record; nil if it is not stored, or not yet.
  var storedAs: String? { get }
}

extension PartSink {
  /// Nil: the part is not stored.
  public var storedAs: String? { nil }
}
