public import FormStreamMultipart

/// The media types of file name extensions. An extension may have several: `ts` is a video or a
/// TypeScript program.
public struct ExtensionTable: Sendable {
  private var types: [String: [MediaType]] = [:]

  /// Reads a table in the format of `mime.types`: each line has a type and its extensions. Lines
  /// without a valid type are skipped.
  public init(_ text: some StringProtocol) {
    for line in text.split(whereSeparator: \.isNewline) {
      let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }
      guard let first = words.first, let type = MediaType(String(first)) else { continue }
      for word in words.dropFirst() { types[word.lowercased(), default: []].append(type) }
    }
  }

  /// A table with the types of this table, followed by those of another.
  public func adding(_ other: ExtensionTable) -> ExtensionTable {
    var sum = self
    for (name, more) in other.types {
      sum.types[name, default: []] += more.filter { !(types[name] ?? []).contains($0) }
    }
    return sum
  }

  /// The types of the extension of a file name, the most likely first. Empty if there is no
  /// extension, or it is not in the table.
  public func types(of filename: String) -> [MediaType] {
    let name = filename.utf8
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return [] }
    return types[String(filename[filename.utf8.index(after: dot)...]).lowercased()] ?? []
  }

  /// The built-in table.
  public static let builtIn = ExtensionTable(builtInText)

  /// The built-in table, followed by `/etc/mime.types` if it exists.
  public static let system: ExtensionTable = {
    guard let bytes = try? head(of: "/etc/mime.types", limit: 4 * 1024 * 1024) else {
      return builtIn
    }
    return builtIn.adding(ExtensionTable(String(decoding: bytes, as: UTF8.self)))
  }()
}
