import FormStreamMultipart

/// The headers of a request or an answer, in order, repetitions kept.
public struct HTTPHeaders: Sendable, Hashable {
  /// One header line.
  public struct Field: Sendable, Hashable {
    /// The name, as it is written.
    public let name: String
    /// The value.
    public let value: String
    /// Whether the value is a secret: a trace shows that it was sent, and nothing of it.
    public let isSecret: Bool
  }

  /// The lines.
  public private(set) var fields: [Field] = []

  /// The most lines that a request may bear.
  public static let maximumCount = 200
  /// The longest value, in bytes.
  public static let maximumValueSize = 64 * 1024

  /// No headers.
  public init() {}

  /// Adds a line behind the others.
  ///
  /// - Parameter isSecret: whether traces must not show the value. Those of `Authorization`, `Cookie` and
  ///   their like are never shown.
  /// - Throws: `invalidHeader` where the name is no token, the value has control characters (RFC 9110 §5.5)
  ///   or is too long, or the header is one that says how the message is framed: what goes on the wire
  ///   must be true, so it is derived from the body.
  public mutating func append(
    name: String, value: String, isSecret: Bool = false
  ) throws(TransferError) {
    guard HTTPSyntax.isToken(name.utf8) else {
      throw TransferError(
        .invalidHeader, on: name,
        "The header name \(name.quoted) is not valid: use letters, digits and hyphens only.")
    }
    if let remedy = Self.derived[name.lowercased()] {
      throw TransferError(
        .invalidHeader, on: name, "The header \(name.quoted) can't be set by hand: \(remedy).")
    }
    guard HTTPSyntax.isFieldValue(value.utf8), value.utf8.count <= Self.maximumValueSize else {
      throw TransferError(
        .invalidHeader, on: name,
        "The value of the header \(name.quoted) has a control character in it or more than "
          + "\(Self.maximumValueSize) bytes: take out line breaks and NULs.")
    }
    guard fields.count < Self.maximumCount else {
      throw TransferError(
        .invalidHeader, on: name,
        "The header \(name.quoted) is one too many: a request bears at most \(Self.maximumCount).")
    }
    fields.append(
      Field(
        name: name, value: String(value.trimmingBlanks()),
        isSecret: isSecret || HeaderText.isSecret(name)))
  }

  /// The value of the first line of that name, which is compared without regard to case.
  public subscript(name: String) -> String? {
    fields.first { $0.name.isSameHeaderName(as: name) }?.value
  }

  /// Whether there is a line of that name.
  public func contains(_ name: String) -> Bool { self[name] != nil }

  /// Notes a line of an answer, which came as it came.
  mutating func note(name: String, value: String) {
    fields.append(Field(name: name, value: value, isSecret: HeaderText.isSecret(name)))
  }

  mutating func note(_ field: Field) {
    fields.append(field)
  }

  private static let derived = [
    "content-length": "it is counted from the body",
    "transfer-encoding": "it follows from whether the body's length is known",
    "expect": "the request's own setting decides it",
    "connection": "the session keeps and closes its connections itself",
    "keep-alive": "the session keeps and closes its connections itself",
    "proxy-connection": "the session keeps and closes its connections itself",
    "te": "trailers and codings are not asked for",
    "trailer": "nothing follows the body",
    "upgrade": "no other protocol is spoken",
    "http2-settings": "no other protocol is spoken",
  ]
}
