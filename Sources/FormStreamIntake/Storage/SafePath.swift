/// Where a file goes below the directory that files are stored in: a name that is safe to make, and the
/// directories that it stands in, each with a safe name, too. It leads nowhere but down.
package struct SafePath: Hashable, Sendable {
  /// As many directories as a sender may have made below each other.
  private static let maximumDirectories = 32
  /// Linux takes paths of up to 4,095 bytes; the rest is for the directory that files are stored in, and for
  /// numbers.
  private static let maximumLength = 2048

  /// From the outermost to the innermost.
  let directories: [SafeName]
  let name: SafeName

  /// What is left of a name with directories in it when all that is not safe is out of it; nil where that
  /// is nothing. What goes up or stays where it is drops out: `a/../b` is `a/b`.
  ///
  /// Of what is too deep or too long the innermost directories are kept: they say what the file is, the
  /// outermost mostly where the sender had it.
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
  }

  /// A name that stands in no directory.
  package init(_ name: SafeName) {
    self.name = name
    directories = []
  }

  /// Where a part's file goes: as its file name says, else its field's name, else "file". A field's name
  /// is no path, so it makes no directories.
  package init(filename: String?, field: String?, keepingDirectories: Bool) {
    if keepingDirectories, let path = filename.flatMap(SafePath.init) {
      self = path
    } else {
      self.init(SafeName(filename: filename, field: field))
    }
  }
}
