import FormStreamMultipart
import FormStreamPlatform

/// The destination of a file below the storage directory: the file's name and the names of the directories that contain it.
/// All these names are safe, so the destination is always inside the storage directory.
package struct SafePath: Hashable, Sendable {
  /// The most directories, one inside the other, that a client can make with one path.
  private static let maximumDirectories = 32
  /// Linux allows paths of 4,095 bytes. This limit leaves the rest for the storage directory and for numbers.
  private static let maximumLength = 2048

  /// The names of the directories, from the outermost to the innermost.
  let directories: [SafeName]
  let name: SafeName
  /// Whether the destination is, byte for byte, the name or path that was sent. Otherwise, two different names that were
  /// sent may lead to this destination.
  let isAsSent: Bool

  /// The whole path as it is before a number is added: `numbered(1)` adds none.
  var bytes: [UInt8] {
    Array(
      (directories + [name]).map { $0.numbered(1).bytes }.joined(separator: [UInt8(ascii: "/")]))
  }

  /// Makes a path safe; nil if nothing usable is left. Components such as `.` and `..` are dropped: `a/../b` becomes
  /// `a/b`.
  ///
  /// If the path is too deep or too long, the innermost directories are kept: they describe the file, while the outermost
  /// directories mostly say where the client stored it.
  package init?(_ path: String) {
    var names: [SafeName] = []
    var length = 0
    for component in SafeName.components(of: path).reversed() {
      guard let name = SafeName(component: component) else { continue }
      length += name.length + 1
      if length > Self.maximumLength { break }
      names.append(name)
      if names.count > Self.maximumDirectories { break }
    }
    guard let name = names.first else { return nil }
    self.name = name
    directories = names.dropFirst().reversed()
    let stored = names.reversed().map { $0.numbered(1).bytes }.joined(separator: [UInt8(ascii: "/")]
    )
    isAsSent = stored.elementsEqual(path.utf8) && Self.isExact(path.unicodeScalars)
  }

  /// A destination directly in the storage directory. Only the last component of the file name counts.
  private init(_ name: SafeName, of filename: String?) {
    self.name = name
    directories = []
    let last =
      filename.flatMap { SafeName.components(of: $0).last } ?? Substring.UnicodeScalarView()
    isAsSent =
      name.numbered(1).bytes.elementsEqual(String(String.UnicodeScalarView(last)).utf8)
      && Self.isExact(last)
  }

  /// Whether a text has all the bytes that were sent. U+FFFD stands for bytes that are not UTF-8.
  private static func isExact(_ text: some Sequence<Unicode.Scalar>) -> Bool {
    !text.contains("\u{FFFD}")
  }

  /// The destination of a part: its file name if usable, else its field's name, else "file". A field's name is not a
  /// path, so it never makes directories.
  package init(filename: String?, field: String?, keepingDirectories: Bool) {
    if keepingDirectories, let path = filename.flatMap(SafePath.init) {
      self = path
    } else {
      self.init(SafeName(filename: filename, field: field), of: filename)
    }
  }
}
