import FormStreamMultipart

/// A name and a value of a query, or of an `application/x-www-form-urlencoded` body.
public struct URLEncodedField: Sendable, Hashable {
  /// The name.
  public var name: String
  /// The value; if nil, the name is written without `=`.
  public var value: String?

  /// Creates a field.
  public init(_ name: String, _ value: String?) {
    self.name = name
    self.value = value
  }

  /// Encodes fields, joined by `&`.
  public static func text(of fields: [URLEncodedField]) -> String {
    let encoding = PercentEncoding.formURLEncoded
    return fields.map { field in
      let name = encoding.encoded(field.name.utf8)
      return field.value.map { name + "=" + encoding.encoded($0.utf8) } ?? name
    }
    .joined(separator: "&")
  }
}
