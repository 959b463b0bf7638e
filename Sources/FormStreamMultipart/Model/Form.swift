/// A form: its parts in order, and how they are encoded.
///
/// A form is a plain value. It opens nothing: lay it out (``layout(detector:verify:)``) to measure
/// and to read it, as often as needed.
///
/// ```swift
/// let form = Form {
///   Part.text("title", "Sunset")
///   Part.file("photo", "sunset.jpg", type: "image/jpeg")
/// }
/// let layout = try form.layout()
/// ```
public struct Form: Sendable {
  /// The type of the body: `multipart/form-data`, or another multipart type.
  public var type: FormType
  /// The parts, in the order in which they are sent.
  public var parts: [Part]
  /// The boundary; random by default.
  public var boundary: Boundary
  /// How names and file names are escaped.
  public var escaping: EscapingProfile
  /// Whether a lone CR or LF in a text becomes CRLF, as in browsers. By default, text is sent byte for byte. Files are
  /// always sent byte for byte.
  public var browserText: Bool

  /// The maximum depth of forms inside forms.
  public static let maximumNesting = 32

  /// Creates a form from an array of parts.
  public init(
    type: FormType = .formData, boundary: Boundary = .random(),
    escaping: EscapingProfile = .browser, browserText: Bool = false, parts: [Part] = []
  ) {
    self.type = type
    self.parts = parts
    self.boundary = boundary
    self.escaping = escaping
    self.browserText = browserText
  }

  /// Creates a form from the parts that a result builder lists.
  public init(
    type: FormType = .formData, boundary: Boundary = .random(),
    escaping: EscapingProfile = .browser, browserText: Bool = false,
    @FormBuilder parts: () throws -> [Part]
  ) rethrows {
    self.init(
      type: type, boundary: boundary, escaping: escaping, browserText: browserText,
      parts: try parts())
  }

  /// Adds a part at the end.
  public mutating func append(_ part: Part) {
    parts.append(part)
  }

  /// The same form, but its files may grow.
  package func growing(_ growth: FileGrowth) -> Form {
    var form = self
    for index in parts.indices { form.parts[index].body = parts[index].body.growing(growth) }
    return form
  }
}

/// Builds the parts of a form from a list with `if`, `for` and `switch`.
@resultBuilder
public enum FormBuilder {
  /// One part.
  public static func buildExpression(_ part: Part) -> [Part] { [part] }
  /// An array of parts.
  public static func buildExpression(_ parts: [Part]) -> [Part] { parts }
  /// The parts of all lines, in order.
  public static func buildBlock(_ lines: [Part]...) -> [Part] { lines.flatMap(\.self) }
  /// The parts of an `if` without `else`.
  public static func buildOptional(_ parts: [Part]?) -> [Part] { parts ?? [] }
  /// The first branch of an `if` or `switch`.
  public static func buildEither(first parts: [Part]) -> [Part] { parts }
  /// The other branch of an `if` or `switch`.
  public static func buildEither(second parts: [Part]) -> [Part] { parts }
  /// The parts of all iterations of a `for`.
  public static func buildArray(_ iterations: [[Part]]) -> [Part] { iterations.flatMap(\.self) }
  /// The parts of an `if #available`.
  public static func buildLimitedAvailability(_ parts: [Part]) -> [Part] { parts }
}
