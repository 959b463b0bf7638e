/// A file name that is safe to create, whatever the other side sent: one path component that is not hidden, does not
/// begin like a flag or a command, and is valid on other systems.
///
/// It may contain characters that a shell interprets (`$`, `;`, backquotes): scripts must quote names anyway.
///
/// Two names that look alike (`é` as one character or as two) stay two names. When a file is stored, the system decides
/// whether its name is taken.
package struct SafeName: Hashable, Sendable {
  /// Linux allows 255 bytes; the rest is left for a number.
  private static let maximumLength = 240

  /// The name as bytes: two texts that Swift considers equal may be two names to the system.
  package let fileName: FileName

  /// Makes the last component of a name safe; nil if nothing usable is left.
  package init?(_ name: String) {
    guard let component = Self.components(of: name).last else { return nil }
    self.init(component: component)
  }

  /// Makes one of ``components(of:)`` safe; nil if nothing usable is left.
  package init?(component: Substring.UnicodeScalarView) {
    var scalars = Self.trimmed(component.map(Self.replaced)[...])
    guard let first = scalars.first else { return nil }
    if [".", "-", "~", "+", "@"].contains(first) { scalars[scalars.startIndex] = "_" }
    if Self.isReserved(scalars) { scalars = ["_"] + scalars }

    let ending = scalars.lastIndex(of: ".").map { scalars[$0...] } ?? []
    let isExtension = Self.length(of: ending) <= FileName.maximumExtension
    let fileExtension = isExtension ? Self.bytes(of: ending) : []
    var stem = isExtension ? scalars.dropLast(ending.count) : scalars
    var length = Self.length(of: stem) + fileExtension.count
    while length > Self.maximumLength, let last = stem.popLast() {
      length -= UTF8.width(last)
    }
    // After a cut the name may end in a character that must not be last.
    fileName = FileName(
      bytes: Self.bytes(of: fileExtension.isEmpty ? Self.trimmed(stem) : stem) + fileExtension)
  }

  /// The components of a path. Old browsers send complete paths, with backslashes.
  package static func components(of path: String) -> [Substring.UnicodeScalarView] {
    path.unicodeScalars.split { $0 == "/" || $0 == "\\" }
  }

  /// The first name that is usable, or the word if no name is.
  package init(firstUsable names: [String?], orElse word: StaticString) {
    let name = names.lazy.compactMap { $0.flatMap(SafeName.init) }.first
    self = name ?? SafeName(word: word.description)
  }

  private init(word: String) {
    fileName = FileName(word)
  }

  /// The length in bytes.
  package var length: Int { fileName.bytes.count }
}

extension SafeName {
  /// The scalar, or `_` if a name must not contain it. Windows forbids the seven characters, in addition to the
  /// separators. Shells interpret most of the seven too.
  private static func replaced(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    scalar.isSafeToDisplay && !"<>:\"|?*".unicodeScalars.contains(scalar) ? scalar : "_"
  }

  /// Removes blanks at both ends, and dots at the end. Windows ignores dots and spaces at the end of a name, so two
  /// names could become one.
  private static func trimmed(_ scalars: ArraySlice<Unicode.Scalar>) -> ArraySlice<Unicode.Scalar> {
    var scalars = scalars.drop { $0.properties.isWhitespace }
    while let last = scalars.last, last == "." || last.properties.isWhitespace {
      scalars.removeLast()
    }
    return scalars
  }

  /// Windows: "Do not use the following reserved names for the name of a file: CON, PRN, AUX, NUL, COM1 …
  /// COM9, COM¹, COM², COM³, LPT1 … LPT9, LPT¹, LPT², and LPT³. Also avoid these names followed
  /// immediately by an extension."
  private static func isReserved(_ scalars: ArraySlice<Unicode.Scalar>) -> Bool {
    let stem = scalars.prefix { $0 != "." }
    let name = String(String.UnicodeScalarView(trimmed(stem))).uppercased()
    if ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"].contains(name) { return true }
    guard name.hasPrefix("COM") || name.hasPrefix("LPT"), name.count == 4 else { return false }
    return name.last.map { "0123456789¹²³".contains($0) } ?? false
  }

  private static func bytes(of scalars: ArraySlice<Unicode.Scalar>) -> [UInt8] {
    Array(String(String.UnicodeScalarView(scalars)).utf8)
  }

  private static func length(of scalars: ArraySlice<Unicode.Scalar>) -> Int {
    scalars.reduce(0) { $0 + UTF8.width($1) }
  }
}
