import FormStreamPlatform

/// The media types of file name extensions. An extension may have several: `ts` is a video or a
/// TypeScript program.
///
/// A table is text, and the text is searched once for each extension. Programs ask for few extensions, and reading a
/// large table into a dictionary would take longer than sending a small file.
///
/// A table is also a ``MediaTypeDetector``: forms use ``builtIn`` if they are given no other detector.
public struct ExtensionTable: Sendable {
  /// The texts, in the order in which they are searched. A text is read only when a type is looked up.
  private var texts: [Text]

  /// Reads a table in the format of `mime.types`: each line has a type and its extensions. Lines
  /// without a valid type are skipped.
  public init(_ text: some StringProtocol) {
    let bytes = Array(text.utf8)
    self.init { bytes }
  }

  /// A table in the format of `mime.types`. Its text is requested only when a type is looked up.
  package init(_ text: @escaping @Sendable () -> [UInt8]) {
    texts = [Text(bytes: text)]
  }

  /// A table with the types of this table, followed by the types of another table.
  public func adding(_ other: ExtensionTable) -> ExtensionTable {
    var sum = self
    sum.texts += other.texts
    return sum
  }

  /// The types of the extension of a file name, the most likely first. Empty if there is no
  /// extension, or it is not in the table.
  public func types(of filename: String) -> [MediaType] {
    var types: [MediaType] = []
    _ = firstType(of: filename) { type in
      if !types.contains(type) { types.append(type) }
      return false
    }
    return types
  }

  /// The first type that fulfills a condition, among the types of a file name's extension.
  package func firstType(
    of filename: String, where isWanted: (MediaType) -> Bool = { _ in true }
  ) -> MediaType? {
    let name = filename.utf8
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return nil }
    let wanted = Array(filename[name.index(after: dot)...].lowercased().utf8)
    guard !wanted.isEmpty else { return nil }
    for text in texts {
      if let type = text.types(of: wanted).first(where: isWanted) { return type }
    }
    return nil
  }

  /// The built-in table.
  public static let builtIn = ExtensionTable(builtInText)
}

/// A text of a table. It caches the types found so far, because thousands of files often have the same extension.
private final class Text: Sendable {
  /// The maximum number of extensions in the cache, and the maximum length of such an extension. Other extensions are
  /// searched for each time.
  private static let (maximumKnown, maximumLength) = (1000, 32)

  private let bytes: @Sendable () -> [UInt8]
  private let known = Guarded<[[UInt8]: [MediaType]]>([:])

  init(bytes: @escaping @Sendable () -> [UInt8]) {
    self.bytes = bytes
  }

  /// The types of an extension in lower case, in the order of the lines.
  func types(of wanted: [UInt8]) -> [MediaType] {
    if let types = known.withLock({ $0[wanted] }) { return types }
    var types: [MediaType] = []
    bytes().withUnsafeBytes { text in
      var line = TableLine(of: text)
      while line.advance() {
        guard line.hasWord(wanted) else { continue }
        if let type = MediaType(String(decoding: line.type, as: UTF8.self)) { types.append(type) }
      }
    }
    if wanted.count <= Self.maximumLength {
      known.withLock { if $0.count < Self.maximumKnown { $0[wanted] = types } }
    }
    return types
  }
}

extension ExtensionTable: MediaTypeDetector {
  /// The most likely type of the part's file name; nil if its extension is not in the table.
  public func mediaType(of part: UntypedPart) -> MediaType? { firstType(of: part.filename) }
}

/// The lines of a table's text, one after the other.
private struct TableLine {
  private let text: UnsafeRawBufferPointer
  private var end = 0
  /// The type: the line's first word.
  private(set) var type: Slice<UnsafeRawBufferPointer>
  /// The rest of the line after the type, up to a comment.
  private var words = 0..<0

  init(of text: UnsafeRawBufferPointer) {
    self.text = text
    type = text[..<0]
  }

  /// Goes to the next line; returns false if there is none.
  mutating func advance() -> Bool {
    guard end < text.count else { return false }
    var start = end
    while end < text.count, text[end] != 0x0A, text[end] != UInt8(ascii: "#") { end += 1 }
    while start < end, text[start].isTableBlank { start += 1 }
    var typeEnd = start
    while typeEnd < end, !text[typeEnd].isTableBlank { typeEnd += 1 }
    type = text[start..<typeEnd]
    words = typeEnd..<end
    while end < text.count, text[end] != 0x0A { end += 1 }
    end += 1
    return true
  }

  /// Whether the word, in lower case, follows the type.
  func hasWord(_ wanted: [UInt8]) -> Bool {
    var place = words.lowerBound
    while place < words.upperBound {
      if text[place].isTableBlank {
        place += 1
        continue
      }
      let start = place
      while place < words.upperBound, !text[place].isTableBlank { place += 1 }
      if place - start == wanted.count,
        text[start..<place].lazy.map(\.asciiLowercased).elementsEqual(wanted)
      {
        return true
      }
    }
    return false
  }
}

extension UInt8 {
  fileprivate var isTableBlank: Bool { self == 0x20 || self == 0x09 || self == 0x0D }
}
