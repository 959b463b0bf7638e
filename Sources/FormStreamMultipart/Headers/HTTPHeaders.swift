/// The headers of a request, a response or a part, in order, including repeated ones (RFC 9110 §5, RFC 7578 §4.8).
///
/// ```swift
/// var headers: HTTPHeaders = ["Accept": "application/json", "X-Trace": "1"]
/// headers["X-Trace"] = "2"
/// headers.append("Authorization", "Key \(key)", isSecret: true)
/// ```
///
/// The headers of a part are checked when the form is laid out. The headers of a request are checked when it is sent. A
/// name that isn't a token is an error, and so is a value with a control character (RFC 9110 §5.5). Some headers are
/// derived, so that they are always correct. It is an error to set these headers: `Content-Length` and other headers
/// that describe how a message is framed, and the `Content-Disposition` and `Content-Type` of a part.
public struct HTTPHeaders: Sendable, Hashable {
  /// One header line.
  public struct Field: Sendable, Hashable {
    /// The name, as it was written.
    public let name: String
    /// The bytes of the value.
    public internal(set) var bytes: [UInt8]
    /// Whether the caller said that the value is a secret.
    let isMarkedSecret: Bool

    package init(name: String, bytes: [UInt8], isMarkedSecret: Bool = false) {
      (self.name, self.bytes, self.isMarkedSecret) = (name, bytes, isMarkedSecret)
    }

    /// The value as text; bytes that are not UTF-8 become U+FFFD.
    public var value: String { String(decoding: bytes, as: UTF8.self) }
    /// Whether the value is a secret: a trace shows the name, and masks the value. This is computed at each access,
    /// because most headers are never shown.
    public var isSecret: Bool { isMarkedSecret || SecretNames.contains(name.utf8) }
  }

  /// The lines.
  public private(set) var fields: [Field] = []

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

  /// Appends a line, even if there is already a line with this name. Blanks at both ends of the value are removed.
  ///
  /// - Parameters:
  ///   - name: the name of the header.
  ///   - value: the value.
  ///   - isSecret: whether traces mask the value. The values of `Authorization`, `Cookie` and similar headers
  ///     are always masked.
  public mutating func append(_ name: String, _ value: String, isSecret: Bool = false) {
    fields.append(
      Field(name: name, bytes: Array(value.utf8.trimmingBlanks()), isMarkedSecret: isSecret))
  }

  /// Replaces all lines with this name by one line, at the place of the first; appends the line if there is none.
  ///
  /// - Parameters:
  ///   - name: the name of the header.
  ///   - value: the value.
  ///   - isSecret: whether traces mask the value; see ``append(_:_:isSecret:)``.
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

  /// The value of the first line with this name, ignoring case; nil if there is none. Assigning a text sets the header.
  /// Assigning nil removes the header.
  public subscript(name: String) -> String? {
    get { fields.first { $0.name.isSameHeaderName(as: name) }?.value }
    set { if let newValue { set(name, newValue) } else { remove(name) } }
  }

  /// All values of a header, joined into one as in RFC 9110 §5.2; nil if there is none.
  package func joined(_ name: String) -> String? {
    let values = fields.filter { $0.name.isSameHeaderName(as: name) }.map(\.value)
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }

  /// Whether there is a line with this name.
  public func contains(_ name: String) -> Bool { self[name] != nil }

  /// Appends to the value of the last line, because the next line of the input continues it. Does nothing if there is
  /// no line.
  package mutating func continueLastLine(_ bytes: some BidirectionalCollection<UInt8>) {
    guard let last = fields.indices.last else { return }
    let more = bytes.trimmingBlanks()
    if !fields[last].bytes.isEmpty, !more.isEmpty { fields[last].bytes.append(0x20) }
    fields[last].bytes += more
  }

  /// Appends a line as it is.
  package mutating func append(_ field: Field) {
    fields.append(field)
  }

  /// Appends a line whose value is these bytes.
  package mutating func append(_ name: String, bytes: [UInt8]) {
    fields.append(Field(name: name, bytes: bytes))
  }
}

extension HTTPHeaders.Field: CustomStringConvertible, CustomReflectable {
  /// The value for people, with secrets masked.
  package var shownValue: String { isSecret ? "***" : value.hidingURLSecrets }

  /// The line, with secrets masked.
  public var description: String { "\(name): \(shownValue)" }

  /// The line with secrets masked, for `dump` and debuggers.
  public var customMirror: Mirror { Mirror(self, children: ["name": name, "value": shownValue]) }
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
