import FormStreamMultipart

/// The headers of a request or a response, in order, including repeated ones (RFC 9110 §5).
///
/// ```swift
/// var headers: HTTPHeaders = ["Accept": "application/json", "X-Trace": "1"]
/// headers["X-Trace"] = "2"
/// headers.append("Authorization", "Key \(key)", isSecret: true)
/// ```
///
/// Those of a request are checked when it is sent. It fails with `invalidHeader`, and nothing is sent, if a name isn't a
/// token, if a value contains control characters (RFC 9110 §5.5) or is too long, or if a header describes the framing of
/// the message, such as `Content-Length`: those are derived from the body, so that they are always true.
public struct HTTPHeaders: Sendable, Hashable {
  /// One header line.
  public struct Field: Sendable, Hashable {
    /// The name, as it was written.
    public let name: String
    /// The value.
    public let value: String
    /// Whether the caller said that the value is a secret.
    let isMarkedSecret: Bool
    /// The value as it was received, if that is not UTF-8; nil otherwise.
    let undecodable: [UInt8]?

    init(name: String, value: String, isMarkedSecret: Bool = false) {
      (self.name, self.value, self.isMarkedSecret) = (name, value, isMarkedSecret)
      undecodable = nil
    }

    /// A line that was received. The value's text is repaired if it is not UTF-8.
    init(name: String, received bytes: [UInt8]) {
      let text = String(validating: bytes, as: UTF8.self)
      (self.name, value, isMarkedSecret) = (
        name, text ?? String(decoding: bytes, as: UTF8.self), false
      )
      undecodable = text == nil ? bytes : nil
    }

    /// The value as it was received.
    var bytes: [UInt8] { undecodable ?? Array(value.utf8) }
    /// Whether the value is a secret: a trace shows the name, and masks the value. Found out when it is asked for: most
    /// headers are never shown.
    public var isSecret: Bool { isMarkedSecret || SecretNames.contains(name.utf8) }
  }

  /// The lines.
  public private(set) var fields: [Field] = []

  /// The maximum number of lines that a request may be given.
  public static let maximumCount = 200
  /// The maximum length of a value, in bytes.
  public static let maximumValueSize = 64 * 1024

  /// Creates an empty list.
  public init() {}

  /// Creates lines with these names and values, in order.
  public init(_ headers: some Sequence<(String, String)>) {
    for (name, value) in headers { append(name, value) }
  }

  /// Creates lines from a dictionary, in the order of their names.
  public init(_ headers: [String: String]) {
    self.init(headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
  }

  /// Appends a line, also if there is one with this name. Blanks at both ends of the value are removed.
  ///
  /// - Parameter isSecret: whether traces mask the value. The values of `Authorization`, `Cookie` and similar headers
  ///   are always masked.
  public mutating func append(_ name: String, _ value: String, isSecret: Bool = false) {
    fields.append(
      Field(name: name, value: String(value.trimmingBlanks()), isMarkedSecret: isSecret))
  }

  /// Replaces all lines with this name by one, at the place of the first; appends it if there is none.
  ///
  /// - Parameter isSecret: whether traces mask the value; see ``append(_:_:isSecret:)``.
  public mutating func set(_ name: String, _ value: String, isSecret: Bool = false) {
    let first = fields.firstIndex { $0.name.isSameHeaderName(as: name) }
    remove(name)
    append(name, value, isSecret: isSecret)
    if let first, let last = fields.popLast() { fields.insert(last, at: first) }
  }

  /// Removes all lines with this name.
  public mutating func remove(_ name: String) {
    fields.removeAll { $0.name.isSameHeaderName(as: name) }
  }

  /// The value of the first line with this name, ignoring case; nil if there is none. Setting it sets the header, or
  /// removes it if the value is nil.
  public subscript(name: String) -> String? {
    get { fields.first { $0.name.isSameHeaderName(as: name) }?.value }
    set { if let newValue { set(name, newValue) } else { remove(name) } }
  }

  /// All values of a header in one, as RFC 9110 §5.2 joins them; nil if there is none.
  func joined(_ name: String) -> String? {
    let values = fields.filter { $0.name.isSameHeaderName(as: name) }.map(\.value)
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }

  /// Whether there is a line with this name.
  public func contains(_ name: String) -> Bool { self[name] != nil }

  /// Appends to the value of the last line, which a server continued in the next one; ignored if there is none.
  mutating func continueLastLine(_ bytes: some BidirectionalCollection<UInt8>) {
    guard let last = fields.popLast() else { return }
    let value = last.bytes + [0x20] + bytes.trimmingBlanks()
    fields.append(Field(name: last.name, received: Array(value.trimmingBlanks())))
  }

  /// Appends a line as it is.
  mutating func appendUnchanged(name: String, value: String) {
    fields.append(Field(name: name, value: value))
  }

  /// Appends a line as it was received.
  mutating func append(_ name: String, received bytes: [UInt8]) {
    fields.append(Field(name: name, received: bytes))
  }

  /// The first `Location`. What is not UTF-8 in it is percent-encoded byte by byte, so that it names the same URL.
  var location: String? {
    guard let field = fields.first(where: { $0.name.isSameHeaderName(as: "Location") }) else {
      return nil
    }
    guard let bytes = field.undecodable else { return field.value }
    let encoded = bytes.flatMap { byte in
      byte < 0x80
        ? [byte]
        : [UInt8(ascii: "%"), Hexadecimal.digit(byte >> 4), Hexadecimal.digit(byte & 0x0F)]
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  mutating func appendUnchanged(_ field: Field) {
    fields.append(field)
  }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
  /// Creates lines from a literal, in its order. A name may occur more than once.
  public init(dictionaryLiteral headers: (String, String)...) {
    self.init(headers)
  }
}

extension HTTPHeaders: RandomAccessCollection {
  /// The index of the first line.
  public var startIndex: Int { fields.startIndex }
  /// The index after the last line.
  public var endIndex: Int { fields.endIndex }
  /// The line at an index.
  public subscript(position: Int) -> Field { fields[position] }
}
