public import FormStreamMultipart

/// A rule that takes precedence over detection: files whose names match a glob get the rule's type.
public struct TypeOverride: Hashable, Sendable {
  /// The pattern, as in shells: `*`, `?` and `[…]`. If it contains a slash it is matched against
  /// the full path, otherwise against the last component.
  public let glob: String
  /// The type of the files that match.
  public let type: MediaType

  /// Creates a rule.
  public init(glob: String, type: MediaType) {
    self.glob = glob
    self.type = type
  }

  /// Parses a rule such as `*.heic=image/heic`.
  ///
  /// - Throws: `invalidOverride` if there is no glob before the first `=`, or no media type after
  ///   it.
  public init(_ text: String) throws(MediaTypesError) {
    guard let separator = text.utf8.firstIndex(of: UInt8(ascii: "=")), separator > text.startIndex,
      let type = MediaType(String(text[text.utf8.index(after: separator)...]))
    else {
      throw MediaTypesError(
        .invalidOverride, on: text,
        "\(text.quoted) is not GLOB=TYPE: write it like *.heic=image/heic.")
    }
    self.init(glob: String(text[..<separator]), type: type)
  }

  func matches(filename: String, path: LocalPath?) -> Bool {
    let matchesFullPath = glob.utf8.contains(UInt8(ascii: "/"))
    let name = matchesFullPath ? path ?? LocalPath(filename) : LocalPath(filename)
    return name.isUsable && LocalPath(glob).isUsable && isMatch(name, glob: LocalPath(glob))
  }
}
