import FormStreamMultipart

/// The headers of a request or a response, in order, including repeated ones (RFC 9110 §5).
public struct HTTPHeaders: Sendable, Hashable {
  /// One header line.
  public struct Field: Sendable, Hashable {
    /// The name, as it was written.
    public let name: String
    /// The value.
    public let value: String
    /// Whether the caller said that the value is a secret.
    let isMarkedSecret: Bool
    /// Whether the value is a secret: a trace shows the name, and masks the value. Found out when it is asked for: most
    /// headers are never shown.
    public var isSecret: Bool { isMarkedSecret || SecretNames.contains(name.utf8) }
  }

  /// The lines.
  public private(set) var fields: [Field] = []

  /// The maximum number of lines in a request.
  public static let maximumCount = 200
  /// The maximum length of a value, in bytes.
  public static let maximumValueSize = 64 * 1024

  /// Creates an empty list.
  public init() {}

  /// Appends a line.
  ///
  /// - Parameter isSecret: whether traces mask the value. The values of `Authorization`, `Cookie` and similar headers
  ///   are always masked.
  /// - Throws: `invalidHeader` if the name isn't a token, the value contains control characters (RFC 9110 §5.5)
  ///   or is too long, or the header describes the framing of the message, such as `Content-Length`: those are
  ///   derived from the body, so that they are always true.
  public mutating func append(
    name: String, value: String, isSecret: Bool = false
  ) throws(TransferError) {
    guard HTTPSyntax.isToken(name.utf8) else {
      throw TransferError(
        .invalidHeader, on: name,
        "The header name \(name.quoted) is not valid: use letters, digits and hyphens only.")
    }
    if let reason = Self.derived[name.lowercased()] {
      throw TransferError(
        .invalidHeader, on: name, "The header \(name.quoted) can't be set by hand: \(reason).")
    }
    guard HTTPSyntax.isFieldValue(value.utf8), value.utf8.count <= Self.maximumValueSize else {
      throw TransferError(
        .invalidHeader, on: name,
        "The value of the header \(name.quoted) contains a control character or has more than "
          + "\(Self.maximumValueSize) bytes: remove line breaks and NULs.")
    }
    guard fields.count < Self.maximumCount else {
      throw TransferError(
        .invalidHeader, on: name,
        "The header \(name.quoted) is one too many: a request can have at most \(Self.maximumCount)."
      )
    }
    fields.append(
      Field(
        name: name, value: String(value.trimmingBlanks()), isMarkedSecret: isSecret))
  }

  /// The value of the first line with this name, ignoring case. Nil if there is none.
  public subscript(name: String) -> String? {
    fields.first { $0.name.isSameHeaderName(as: name) }?.value
  }

  /// Whether there is a line with this name.
  public func contains(_ name: String) -> Bool { self[name] != nil }

  /// Appends text to the value of the last line, which a server continued in the next one; ignored if there is none.
  mutating func continueLastLine(_ text: String) {
    guard let last = fields.popLast() else { return }
    let value = String("\(last.value) \(text.trimmingBlanks())".trimmingBlanks())
    fields.append(Field(name: last.name, value: value, isMarkedSecret: last.isMarkedSecret))
  }

  /// Appends a line without checks: one that was received, or one of our own.
  mutating func appendUnchecked(name: String, value: String) {
    fields.append(Field(name: name, value: value, isMarkedSecret: false))
  }

  mutating func appendUnchecked(_ field: Field) {
    fields.append(field)
  }

  /// The headers that can't be set by hand, and why.
  private static let derived = [
    "content-length": "it is derived from the body",
    "transfer-encoding": "it depends on whether the body's length is known",
    "expect": "the request has an option for it",
    "connection": "the session manages its connections itself",
    "keep-alive": "the session manages its connections itself",
    "proxy-connection": "the session manages its connections itself",
    "te": "trailers and transfer codings are not supported",
    "trailer": "trailers are not supported",
    "upgrade": "other protocols are not supported",
    "http2-settings": "other protocols are not supported",
  ]
}
