/// The multipart type of a form.
///
/// Servers that are not made for browsers expect types other than `multipart/form-data`. Parts of these types need no
/// names:
///
/// ```swift
/// let form = Form(type: .related) {
///   Part(type: .json, body: .text(metadata))
///   Part(type: "image/png", body: .file("sunset.png"))
/// }
/// ```
public struct FormType: Hashable, Sendable {
  let mediaType: MediaType
  /// Whether all parts are fields with names. It is stored, because it is looked up for each part.
  let isFormData: Bool

  /// Creates a form's type from any multipart type with its parameters, such as
  /// `multipart/report; report-type=delivery-status`. Laying out the form throws `invalidMediaType` if the type is not
  /// a multipart type, or has a boundary.
  public init(_ type: MediaType) {
    mediaType = type
    isFormData = type.essence == "multipart/form-data"
  }

  /// Fields and files with names (RFC 7578).
  public static let formData = FormType("multipart/form-data")
  /// Independent parts in order (RFC 2046 §5.1.3).
  public static let mixed = FormType(.multipartMixed)
  /// The same content in several types, the best one last (RFC 2046 §5.1.4).
  public static let alternative = FormType("multipart/alternative")
  /// Parts whose order does not matter (RFC 2046 §5.1.6).
  public static let parallel = FormType("multipart/parallel")
  /// A root part and the parts that it refers to (RFC 2387). The root is the first part, and its type becomes the
  /// parameter `type`.
  public static let related = FormType("multipart/related")

  /// A root part and the parts that it refers to (RFC 2387).
  ///
  /// - Parameter start: the `Content-ID` of the root part as in its header, with angle brackets.
  public static func related(start: String) -> FormType {
    FormType(MediaType(unchecked: "multipart/related; start=\(quotedString(start))"))
  }
}

extension FormType: ExpressibleByStringLiteral {
  /// Creates a type from a literal; see ``init(_:)``.
  public init(stringLiteral text: String) {
    self.init(MediaType(unchecked: text))
  }
}

extension Form {
  /// The value of the request's `Content-Type` header.
  public var contentType: String { type(as: type.mediaType).description }

  /// The type of this form as a part of another form. RFC 7578 §4.3 defines no form data inside form data, so the type
  /// of an inner form is then `multipart/mixed`.
  var typeInsideForm: MediaType {
    type(as: type.isFormData ? .multipartMixed : type.mediaType)
  }

  /// A multipart type with the parameters that this form adds to it.
  func type(as type: MediaType) -> MediaType {
    var text = type.description
    // RFC 2387 §3.1: "The type parameter must be specified and its value is the MIME media type of
    // the "root" body part."
    if self.type.mediaType == type, isRelated, parameter("type") == nil, let root = root?.knownType {
      text += "; type=\(quotedString(root.essence))"
    }
    return MediaType(unchecked: "\(text); boundary=\(boundary.parameterValue)")
  }

  /// Checks the type, and what it requires of the parts.
  func checkType() throws(MultipartError) {
    guard type.mediaType.isMultipartWithoutBoundary else {
      throw invalidType(
        "is not a multipart type without a boundary: write it as multipart/subtype")
    }
    guard isRelated else { return }
    guard let root else {
      throw invalidType(
        parameter("start").map { "starts with \($0.quoted), and no part has this Content-ID" }
          ?? "needs a root part: add one")
    }
    guard root.knownType != nil else {
      throw invalidType("names the type of its root part, which has none: set its type")
    }
  }

  private var isRelated: Bool { type.mediaType.essence == "multipart/related" }

  private func parameter(_ name: String) -> String? {
    type.mediaType.parameters?.first { $0.name == name }?.value
  }

  /// RFC 2387 §3.2: "If not present the "root" is the first body part in the Multipart/Related entity."
  private var root: Part? {
    guard let start = parameter("start") else { return parts.first }
    return parts.first { part in
      part.headers.contains { $0.name.isSameHeaderName(as: "Content-ID") && $0.value == start }
    }
  }

  private func invalidType(_ flaw: String) -> MultipartError {
    MultipartError(
      .invalidMediaType, on: type.mediaType.description,
      "The form's type \(type.mediaType.description.quoted) \(flaw).")
  }
}

extension Part {
  /// The type that the part has if none is detected. RFC 2046 §5.1: a part without a type is plain text.
  fileprivate var knownType: MediaType? {
    if let type { return type }
    if case .form(let inner) = body.kind { return inner.typeInsideForm }
    return filename == nil ? .plainText : nil
  }
}

/// RFC 9110 §5.6.4: quoted-string; quoted-pair = "\" ( HTAB / SP / VCHAR / obs-text ).
private func quotedString(_ text: String) -> String {
  let escaped = text.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] }
  return "\"\(String(escaped))\""
}
