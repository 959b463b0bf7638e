public import FormStreamMultipart

/// Which media types a file name's extension stands for. Some stand for several: `ts` is a video to some
/// and a program to others.
public struct ExtensionTable: Sendable {
  private var types: [String: [MediaType]] = [:]

  /// Reads a table in the form of `mime.types`: a type in each line, and behind it its extensions. What is
  /// no media type is passed over.
  public init(_ text: some StringProtocol) {
    for line in text.split(whereSeparator: \.isNewline) {
      let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" }
      guard let first = words.first, let type = MediaType(String(first)) else { continue }
      for word in words.dropFirst() { types[word.lowercased(), default: []].append(type) }
    }
  }

  /// The types that this table and then another have for an extension.
  public func adding(_ other: ExtensionTable) -> ExtensionTable {
    var sum = self
    for (name, more) in other.types {
      sum.types[name, default: []] += more.filter { !(types[name] ?? []).contains($0) }
    }
    return sum
  }

  /// The types of a file name's extension, the likeliest first; none where it has no extension, or one
  /// that is not in the table.
  public func types(of filename: String) -> [MediaType] {
    let name = filename.utf8
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return [] }
    return types[String(filename[filename.utf8.index(after: dot)...]).lowercased()] ?? []
  }

  /// What is known without asking the system, and known better than the system knows it.
  public static let builtIn = ExtensionTable(builtInText)

  /// The built-in table, and behind it `/etc/mime.types` where the system has one.
  public static let system: ExtensionTable = {
    guard let bytes = try? head(of: "/etc/mime.types", limit: 4 * 1024 * 1024) else {
      return builtIn
    }
    return builtIn.adding(ExtensionTable(String(decoding: bytes, as: UTF8.self)))
  }()
}
