import FormStreamMultipart

/// Decides between the type of a file's contents and the type of its name.
enum Arbitration {
  /// Implements the policy `auto`: the contents decide. But if their type is general, the first
  /// type of the extension that does not contradict the contents decides.
  ///
  /// - Parameters:
  ///   - content: the type of the contents; nil if there are no contents, or their type was not
  ///     detected.
  ///   - firstTypeByName: finds the first type of the extension that fulfills a condition.
  static func type(
    content: MediaType?, firstTypeByName: ((MediaType) -> Bool) -> MediaType?
  ) -> SniffedType? {
    let family = Family(content)
    if family != .known,
      let refined = firstTypeByName({ family.isCompatible(with: $0.essence) }),
      refined.essence != content?.essence
    {
      return SniffedType(type: refined, source: .extension)
    }
    return content.map { SniffedType(type: $0, source: .content) }
  }
}

/// How specific the type of the contents is.
private enum Family {
  /// The type names a format.
  case known
  /// The type names no format.
  case bytes
  /// Text. The language is a guess.
  case text
  /// An archive. Many formats are stored as archives.
  case zip
  case gzip
  case compound
  /// A font. RFC 8081 §4.2: the type does not say which kind of outlines it has.
  case font

  init(_ content: MediaType?) {
    guard let essence = content?.essence else {
      self = .bytes
      return
    }
    switch essence {
    case "application/octet-stream": self = .bytes
    case "text/plain", "text/xml", "text/javascript", "application/xml": self = .text
    case _ where essence.hasPrefix("text/x-"): self = .text
    case "application/zip": self = .zip
    case "application/gzip": self = .gzip
    case "application/x-ole-storage", "application/cdfv2": self = .compound
    case "font/sfnt": self = .font
    default: self = .known
    }
  }

  /// Whether contents of this family can have the given type: text is never a photo, and an archive
  /// is never a song.
  func isCompatible(with essence: String) -> Bool {
    switch self {
    case .known: false
    case .bytes: true
    case .text: !Self.isBinary(essence)
    case .zip: essence.hasPrefix("application/") && !Self.isTextual(essence)
    case .gzip:
      essence == "image/svg+xml" || essence.hasPrefix("application/") && !Self.isTextual(essence)
    case .compound: essence.hasPrefix("application/") && !Self.isTextual(essence)
    case .font: ["font/ttf", "font/otf", "font/collection"].contains(essence)
    }
  }

  private static func isTextual(_ essence: String) -> Bool {
    essence.hasSuffix("+xml") || essence.hasSuffix("+json")
      || [
        "application/json", "application/xml", "application/yaml", "application/toml",
        "application/sql", "application/x-ndjson", "application/x-sh",
        "application/rtf", "application/pdf",
      ].contains(essence)
  }

  private static func isBinary(_ essence: String) -> Bool {
    if essence.hasSuffix("+xml") { return false }
    if ["image/", "audio/", "video/", "font/"].contains(where: essence.hasPrefix) { return true }
    return essence.hasSuffix("+zip") || essence.hasSuffix("-compressed")
      || essence.hasPrefix("application/vnd.openxmlformats-")
      || essence.hasPrefix("application/vnd.oasis.")
      || [
        "application/zip", "application/gzip", "application/zstd", "application/x-tar",
        "application/x-xz", "application/x-bzip2", "application/vnd.rar", "application/pdf",
        "application/java-archive", "application/wasm", "application/vnd.sqlite3",
        "application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint",
        "application/octet-stream",
      ].contains(essence)
  }
}
