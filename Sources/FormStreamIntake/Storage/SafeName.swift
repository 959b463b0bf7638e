package import FormStreamMultipart
import FormStreamPlatform

/// A file name that is safe to make, whatever the sender called the file: one component that does not
/// hide, begins with nothing that programs take for a flag or a command, and can be carried to other
/// systems. Within it a shell's own characters may stand (`$`, `;`, backquotes): a script quotes names in
/// any case.
///
/// Two names that look alike (`é` as one character or as two) stay two names: what keeps one from taking
/// the other's place is the system, which is asked at the moment of storing.
package struct SafeName: Hashable, Sendable {
  /// A name has at most 255 bytes on Linux; the rest is for a number.
  private static let maximumLength = 240
  /// What is longer behind the last dot is no extension.
  private static let maximumExtension = 16

  /// In bytes: two texts that Swift holds equal may be two names to the system.
  private let stem: [UInt8]
  private let fileExtension: [UInt8]

  /// What is left of a name when all that is not safe is out of it; nil where that is nothing.
  package init?(_ name: String) {
    guard let component = Self.components(of: name).last else { return nil }
    self.init(component: component)
  }

  /// Makes one of ``components(of:)`` safe.
  init?(component: Substring.UnicodeScalarView) {
    var scalars = Self.trimmed(component.map(Self.replaced)[...])
    guard let first = scalars.first else { return nil }
    if [".", "-", "~", "+", "@"].contains(first) { scalars[scalars.startIndex] = "_" }
    if Self.isReserved(scalars) { scalars = ["_"] + scalars }

    let ending = scalars.lastIndex(of: ".").map { scalars[$0...] } ?? []
    let isExtension = Self.length(of: ending) <= Self.maximumExtension
    fileExtension = isExtension ? Self.bytes(of: ending) : []
    var stem = isExtension ? scalars.dropLast(ending.count) : scalars
    var length = Self.length(of: stem) + fileExtension.count
    while length > Self.maximumLength, let last = stem.popLast() {
      length -= UTF8.width(last)
    }
    // A cut may have left what must not stand at a name's end.
    self.stem = Self.bytes(of: fileExtension.isEmpty ? Self.trimmed(stem) : stem)
  }

  /// The names that a path is made of. Old browsers send whole paths, with backslashes.
  static func components(of path: String) -> [Substring.UnicodeScalarView] {
    path.unicodeScalars.split { $0 == "/" || $0 == "\\" }
  }

  /// The name of a part's file: its file name, else its field's name, else "file".
  package init(filename: String?, field: String?) {
    self = filename.flatMap(SafeName.init) ?? field.flatMap(SafeName.init) ?? Self.file
  }

  private init(stem: String) {
    self.stem = Array(stem.utf8)
    fileExtension = []
  }

  private static let file = SafeName(stem: "file")

  /// In bytes.
  var length: Int { stem.count + fileExtension.count }

  /// The name, or one like it where the number is above 1: `photo.jpg`, `photo-2.jpg`.
  package func numbered(_ number: Int) -> LocalPath {
    LocalPath(bytes: stem + (number > 1 ? Array("-\(number)".utf8) : []) + fileExtension)
  }
}

extension SafeName {
  /// A scalar that may stand in a name. The seven are what Windows forbids beside the separators; shells
  /// read most of them, too.
  private static func replaced(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    scalar.isSafeToDisplay && !"<>:\"|?*".unicodeScalars.contains(scalar) ? scalar : "_"
  }

  /// Windows drops dots and spaces at a name's end, and so takes two names for one.
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
