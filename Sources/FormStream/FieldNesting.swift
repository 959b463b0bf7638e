/// How the names of nested values are written by ``FormStreamMultipart/Part/fields(of:nesting:)``.
public struct FieldNesting: Hashable, Sendable {
  let usesBrackets: Bool

  /// `address[city]`, as PHP, Rails and many others read it.
  public static let brackets = FieldNesting(usesBrackets: true)
  /// `address.city`, as Spring and ASP.NET read it.
  public static let dots = FieldNesting(usesBrackets: false)

  /// The name of a value in a structure.
  func name(_ key: String, in parent: String?) -> String {
    guard let parent else { return key }
    return usesBrackets ? "\(parent)[\(key)]" : "\(parent).\(key)"
  }
}
