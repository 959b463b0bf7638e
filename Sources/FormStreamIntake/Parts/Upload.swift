/// What takes the parts of one request, on that connection's thread: files, bodies that are no form, and text fields
/// of more than `Receiver.Limits.text` bytes. Shorter ones are kept, and given at the end. It is let go where
/// the request breaks off; what is to be taken back then, `deinit` takes back.
public protocol Upload: AnyObject {
  /// A part begins. Those before it have ended.
  func begin(_ part: PartDescription) throws -> any PartSink
  /// All parts came whole, and no more follows: files can be put where they belong. What this throws is what the
  /// client is told.
  ///
  /// - Parameter parts: all of them in order, text fields with their values. What they are stored as may not be known
  ///   yet.
  func end(_ parts: [ReceivedPart]) throws
}

/// What takes the bytes of one part.
public protocol PartSink: AnyObject {
  /// The next bytes, lent for the call.
  func write(_ bytes: UnsafeRawBufferPointer) throws
  /// The part is whole; the request need not be.
  func end() throws
  /// What the part is stored as, for the record; nil where it is not, or not yet.
  var storedAs: String? { get }
}

extension PartSink {
  /// Nothing: not every part is stored.
  public var storedAs: String? { nil }
}
