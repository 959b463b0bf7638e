/// The headers of a part in addition to the derived ones, in order.
///
/// ```swift
/// var headers: PartHeaders = ["X-Source": "scanner", "X-Page": "1"]
/// headers["X-Page"] = "2"
/// ```
///
/// They are checked when the form is laid out. Then a name that is not a token (RFC 9110 §5.1) and a
/// value with a control character are errors, and so are `Content-Disposition`, `Content-Type` and
/// `Content-Length`: the first two are derived from the name, file name and type of the part, and
/// parts have no `Content-Length`.
public struct PartHeaders: Hashable, Sendable {
  /// One header line.
  public struct Field: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The value.
    public let value: String
  }

  private var fields: [Field] = []

  /// The maximum number of bytes in the header block of a part, including derived headers.
  /// Receivers accept 16 KiB or less (Django: 1 KiB).
  public static let maximumBlockSize = 16 * 1024
  /// The maximum number of headers of a part, including derived ones.
  public static let maximumCount = 32

  /// No extra headers.
  public init() {}

  /// Headers with these names and values, in order.
  public init(_ headers: some Sequence<(String, String)>) {
    fields = headers.map { Field(name: $0, value: $1) }
  }

  /// Headers with these names and values, in the order of the names, because a dictionary has none.
  public init(_ headers: [String: String]) {
    self.init(headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
  }

  /// Adds a header at the end, also if there is one of this name.
  public mutating func append(_ name: String, _ value: String) {
    fields.append(Field(name: name, value: value))
  }

  /// Replaces all headers of this name by one, at the place of the first; adds it at the end if there
  /// is none.
  public mutating func set(_ name: String, _ value: String) {
    let field = Field(name: name, value: value)
    guard let first = fields.firstIndex(where: { $0.name.isSameHeaderName(as: name) }) else {
      return fields.append(field)
    }
    fields[first] = field
    fields[(first + 1)...].removeAll { $0.name.isSameHeaderName(as: name) }
  }

  /// Removes all headers of this name.
  public mutating func remove(_ name: String) {
    fields.removeAll { $0.name.isSameHeaderName(as: name) }
  }

  /// The value of the first header of this name, ignoring case; nil if there is none. Setting it sets
  /// the header, or removes it if the value is nil.
  public subscript(name: String) -> String? {
    get { fields.first { $0.name.isSameHeaderName(as: name) }?.value }
    set { if let newValue { set(name, newValue) } else { remove(name) } }
  }

  /// Checks all headers.
  ///
  /// - Throws: `invalidHeader`; `headersTooLarge` if there are more than `maximumCount`.
  package func check() throws(MultipartError) {
    for field in fields { try check(field) }
    // Two are reserved for Content-Disposition and Content-Type.
    guard let last = fields.last, fields.count > Self.maximumCount - 2 else { return }
    throw MultipartError(
      .headersTooLarge, on: last.name,
      "The header \(last.name.quoted) is one too many: a part has at most \(Self.maximumCount).")
  }

  private func check(_ field: Field) throws(MultipartError) {
    let name = field.name
    guard HTTPSyntax.isToken(name.utf8) else {
      throw MultipartError(
        .invalidHeader, on: name,
        "The header name \(name.quoted) is not valid: use letters, digits and hyphens only.")
    }
    if let (_, remedy) = Self.derived.first(where: { name.isSameHeaderName(as: $0.name) }) {
      throw MultipartError(
        .invalidHeader, on: name,
        "The header \(name.quoted) can't be set by hand: \(remedy).")
    }
    guard HTTPSyntax.isFieldValue(field.value.utf8) else {
      throw MultipartError(
        .invalidHeader, on: name,
        "The value of the header \(name.quoted) contains a control character: remove line breaks and "
          + "NULs.")
    }
  }

  private static let derived = [
    (
      name: "Content-Disposition",
      remedy: "it is derived from the name and file name of the part; set those"
    ),
    (name: "Content-Type", remedy: "it is derived from the type of the part; set that"),
    (name: "Content-Length", remedy: "parts have no Content-Length"),
  ]
}

extension PartHeaders: ExpressibleByDictionaryLiteral {
  /// Creates headers from a literal, in its order. A name may occur more than once.
  public init(dictionaryLiteral headers: (String, String)...) {
    self.init(headers)
  }
}

extension PartHeaders: RandomAccessCollection {
  /// The index of the first header.
  public var startIndex: Int { fields.startIndex }
  /// The index after the last header.
  public var endIndex: Int { fields.endIndex }
  /// The header at an index.
  public subscript(position: Int) -> Field { fields[position] }
}
