import FormStreamMultipart

/// A directory that was named directly. If other paths were named too, the paths of its files begin with its own name.
struct NamedDirectory {
  let path: LocalPath
  /// The directory's own name; nil for the current directory, whose name was not given, and for the root of the system.
  let name: LocalPath?
  /// The path in a manifest, with the marker `/./` before the directory's name. The part of a path after its first marker
  /// is kept as the path for the server.
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
