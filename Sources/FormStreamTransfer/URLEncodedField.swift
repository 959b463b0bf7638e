import FormStreamMultipart

/// A name and a value, as `application/x-www-form-urlencoded` and queries have them.
public struct URLEncodedField: Sendable, Hashable {
  /// The name.
  public var name: String
  /// The value; where nil, the name stands alone, without `=`.
  public var value: String?

  /// Names a value.
  public init(_ name: String, _ value: String?) {
    self.name = name
    self.value = value
  }

  /// The fields in one line.
  public static func text(of fields: [URLEncodedField]) -> String {
    let encoding = PercentEncoding.formURLEncoded
    return fields.map { field in
      let name = encoding.encoded(field.name.utf8)
      return field.value.map { name + "=" + encoding.encoded($0.utf8) } ?? name
    }
    .joined(separator: "&")
  }
}
