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

  /// The fields with these names and values.
  package static func list(_ pairs: KeyValuePairs<String, String>) -> [URLEncodedField] {
    pairs.map { URLEncodedField($0, $1) }
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

extension URLEncodedField: CustomStringConvertible, CustomReflectable {
  private var shownValue: String? {
    SecretNames.contains(name.utf8) ? value.map { _ in "***" } : value
  }

  /// The field, not encoded, with its value masked if its name says that it is a secret.
  public var description: String { shownValue.map { "\(name)=\($0)" } ?? name }

  /// The field as text, for `dump` and debuggers.
  public var customMirror: Mirror {
    Mirror(self, children: ["name": name, "value": shownValue as Any])
  }
}
