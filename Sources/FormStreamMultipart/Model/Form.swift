/// A form: parts in order, and how they are written. It is an inert value: what opens, measures or
/// reads is made from it, as often as needed.
///
/// ```swift
/// let form = Form {
///   Part.text("title", "Sunset")
///   Part.file("photo", "sunset.jpg", type: "image/jpeg")
/// }
/// let layout = try form.layout()
/// ```
public struct Form: Sendable {
  /// The parts, in the order in which they are sent.
  public var parts: [Part]
  /// The boundary; drawn at random unless given.
  public var boundary: Boundary
  /// How names and file names are escaped.
  public var escaping: EscapingProfile
  /// Whether a lone CR or LF in a text value becomes CRLF, as in browsers. Otherwise text is sent
  /// byte for byte. Files are, in any case.
  public var browserText: Bool

  /// How deep forms may stand in forms.
  public static let maximumNesting = 32

  /// Makes a form of a list of parts.
  public init(
    boundary: Boundary = .random(), escaping: EscapingProfile = .browser,
    browserText: Bool = false, parts: [Part] = []
  ) {
    self.parts = parts
    self.boundary = boundary
    self.escaping = escaping
    self.browserText = browserText
  }

  /// Makes a form of the parts that `parts` names.
  public init(
    boundary: Boundary = .random(), escaping: EscapingProfile = .browser,
    browserText: Bool = false, @FormBuilder parts: () throws -> [Part]
  ) rethrows {
    self.init(
      boundary: boundary, escaping: escaping, browserText: browserText, parts: try parts())
  }

  /// Adds a part behind the others.
  public mutating func append(_ part: Part) {
    parts.append(part)
  }

  /// The value of the request's `Content-Type` header.
  public var contentType: String {
    "multipart/form-data; boundary=\(boundary.parameterValue)"
  }
}

/// Lets a form be written as a list of parts, with `if`, `for` and `switch`.
@resultBuilder
public enum FormBuilder {
  /// A part stands for itself.
  public static func buildExpression(_ part: Part) -> [Part] { [part] }
  /// A list of parts stands for its parts.
  public static func buildExpression(_ parts: [Part]) -> [Part] { parts }
  /// Lines follow each other.
  public static func buildBlock(_ lines: [Part]...) -> [Part] { lines.flatMap(\.self) }
  /// An `if` without `else` may give nothing.
  public static func buildOptional(_ parts: [Part]?) -> [Part] { parts ?? [] }
  /// The first branch of an `if` or `switch`.
  public static func buildEither(first parts: [Part]) -> [Part] { parts }
  /// The other branch.
  public static func buildEither(second parts: [Part]) -> [Part] { parts }
  /// The rounds of a `for`.
  public static func buildArray(_ rounds: [[Part]]) -> [Part] { rounds.flatMap(\.self) }
  /// A branch that asks for a newer system.
  public static func buildLimitedAvailability(_ parts: [Part]) -> [Part] { parts }
}
