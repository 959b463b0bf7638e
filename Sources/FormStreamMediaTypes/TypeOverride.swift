public import FormStreamMultipart

/// A rule that goes before all sniffing: files whose names match a glob are of a type.
public struct TypeOverride: Hashable, Sendable {
  /// The pattern, as shells have it: `*`, `?` and `[…]`. With a slash in it, it stands for the whole path;
  /// without one, for the last component.
  public let glob: String
  /// The type of what matches.
  public let type: MediaType

  /// Makes a rule.
  public init(glob: String, type: MediaType) {
    self.glob = glob
    self.type = type
  }

  /// Takes a rule as people type it, such as `*.heic=image/heic`.
  ///
  /// - Throws: `invalidOverride` where there is no glob before the first `=`, or no media type behind it.
  public init(_ text: String) throws(MediaTypesError) {
    guard let place = text.utf8.firstIndex(of: UInt8(ascii: "=")), place > text.startIndex,
      let type = MediaType(String(text[text.utf8.index(after: place)...]))
    else {
      throw MediaTypesError(
        .invalidOverride, on: text,
        "\(text.quoted) is not GLOB=TYPE: write it like *.heic=image/heic.")
    }
    self.init(glob: String(text[..<place]), type: type)
  }

  func matches(filename: String, path: LocalPath?) -> Bool {
    let isForPath = glob.utf8.contains(UInt8(ascii: "/"))
    let name = isForPath ? path ?? LocalPath(filename) : LocalPath(filename)
    return name.isUsable && LocalPath(glob).isUsable && isMatch(name, glob: LocalPath(glob))
  }
}
