import FormStreamMultipart

/// A directory that was named. If other paths were named too, its own name begins the paths of its files.
struct NamedDirectory {
  let path: LocalPath
  /// The directory's own name; nil if it is the current directory, whose name was not written, or the root of the system.
  let name: LocalPath?
  /// The path as manifests have it, with a marker before its name: what is after the first marker of a path is kept.
  let marked: LocalPath

  init(_ path: LocalPath) {
    self.path = path
    let slash = UInt8(ascii: "/")
    let dots = [Array(".".utf8), Array("..".utf8)]
    let isCurrent =
      path.bytes.first != slash
      && path.bytes.split(separator: slash).allSatisfy { $0.elementsEqual(dots[0]) }
    let isNamed = !dots.contains(path.lastComponentBytes)
    guard !isCurrent, let full = isNamed ? path : try? resolved(path),
      case let name = full.lastComponentBytes, !name.isEmpty
    else {
      self.name = nil
      marked = path
      return
    }
    let end = full.bytes.lastIndex { $0 != slash }.map { $0 + 1 } ?? 0
    let parent = full.bytes[..<(end - name.count)]
    self.name = LocalPath(bytes: name)
    marked = LocalPath(
      bytes: (parent.isEmpty ? Array("./".utf8) : Array(parent)) + Array("./".utf8) + name)
  }
}
