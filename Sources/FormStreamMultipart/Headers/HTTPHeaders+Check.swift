import FormStreamPlatform

extension HTTPHeaders.Field {
  /// Why a header that the caller gave can't be sent, as a sentence; nil if it can.
  ///
  /// - Parameters:
  ///   - derived: the headers that the caller can't set, and why.
  ///   - maximumSize: the maximum number of bytes of the value; nil if there is none.
  package func flaw(derived: [(name: String, reason: String)], maximumSize: Int? = nil) -> String? {
    guard HTTPSyntax.isToken(name.utf8) else {
      return "The header name \(name.quoted) is not valid: use letters, digits and hyphens only."
    }
    if let (_, reason) = derived.first(where: { name.isSameHeaderName(as: $0.name) }) {
      return "The header \(name.quoted) can't be set by hand: \(reason)."
    }
    if HTTPSyntax.isFieldValue(bytes), bytes.count <= maximumSize ?? .max { return nil }
    let excess = maximumSize.map { " or has more than \(counted($0, "byte", "bytes"))" } ?? ""
    return
      "The value of the header \(name.quoted) contains a control character\(excess): remove line breaks and NULs."
  }
}
