import FormStreamMultipart

/// Where a path from a list or a manifest leads.
///
/// A relative path never leads out of the root; it may have `..` where it stays below the root. A path may name a root of its
/// own, as in rsync: the part before the last `/./`, or all `../` at its beginning. An absolute path without `/./` has no root.
/// If there are several `/./`, the part after the first `/./` is kept as the path for the server (`{relative}`).
struct EntryPlace: Hashable {
  /// The directory that the path must not lead out of; nil if there is none.
  let root: LocalPath?
  /// The path below the root, or the absolute path.
  let relative: LocalPath
  /// ``relative`` without `..`, for patterns and for the server.
  let named: LocalPath
  /// The path that is kept for the server: ``named``, or more of the path if it has several `/./`.
  let kept: LocalPath
  /// The path by which the file is opened.
  let path: LocalPath

  /// - Parameters:
  ///   - path: the path as the list or the manifest has it.
  ///   - root: the directory that relative paths are relative to; nil for the current directory.
  init(_ path: LocalPath, below root: LocalPath?) throws(BatchError) {
    let slash = UInt8(ascii: "/")
    var rest = path.bytes[...]
    var base: [UInt8] = []
    var keptRoot: [UInt8] = []
    let markers = Self.markers(in: path.bytes)
    if let first = markers.first, let marker = markers.last {
      base = (rest.first == slash ? [slash] : []) + Self.withoutMarkers(rest[..<marker])
      if first + 3 < marker { keptRoot = Self.withoutMarkers(rest[(first + 3)..<marker]) }
      rest = rest[(marker + 3)...]
    } else if rest.first == slash {
      self.root = nil
      self.relative = path
      named = path
      kept = path
      self.path = path
      return
    } else {
      while rest.starts(with: "../".utf8) {
        base += base.isEmpty ? "..".utf8 : "/..".utf8
        rest = rest.dropFirst(3).drop { $0 == slash }
      }
    }
    while rest.starts(with: "./".utf8) { rest = rest.dropFirst(2).drop { $0 == slash } }
    rest = rest.drop { $0 == slash }
    let directory = base.isEmpty ? root : (root ?? ".").joined(LocalPath(bytes: base))
    let relative = LocalPath(bytes: rest.isEmpty ? [UInt8(ascii: ".")] : Array(rest))
    guard let named = relative.withoutParents else { throw .leadsOut(path) }
    self.root = directory ?? "."
    self.relative = relative
    self.named = named
    kept = keptRoot.isEmpty ? named : LocalPath(bytes: keptRoot).appending(named.bytes)
    self.path = directory?.appending(relative.bytes) ?? relative
  }

  /// Where each `/./` begins.
  private static func markers(in bytes: [UInt8]) -> [Int] {
    guard bytes.count >= 3 else { return [] }
    return (0...bytes.count - 3).filter { bytes[$0..<$0 + 3].elementsEqual("/./".utf8) }
  }

  /// A path without `.` components, and without slashes at its beginning and end.
  private static func withoutMarkers(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    let slash = UInt8(ascii: "/")
    let components = bytes.split(separator: slash).filter { !$0.elementsEqual(".".utf8) }
    return Array(components.joined(separator: [slash]))
  }
}

extension LocalPath {
  private static let parent = Array("..".utf8)[...]

  /// Whether a component of the path is `..`.
  var hasParents: Bool { bytes.split(separator: UInt8(ascii: "/")).contains(Self.parent) }

  /// The relative path without `..`, as if no component were a link; nil if it leads out of the directory where it begins.
  fileprivate var withoutParents: LocalPath? {
    guard hasParents else { return self }
    let slash = UInt8(ascii: "/")
    var components: [ArraySlice<UInt8>] = []
    for component in bytes.split(separator: slash) where !component.elementsEqual(".".utf8) {
      guard component == Self.parent else {
        components.append(component)
        continue
      }
      if components.popLast() == nil { return nil }
    }
    return components.isEmpty ? "." : LocalPath(bytes: Array(components.joined(separator: [slash])))
  }

  /// The path of a file or directory below this directory.
  func appending(_ relative: [UInt8]) -> LocalPath {
    if relative.isEmpty { return self }
    let slash = UInt8(ascii: "/")
    return LocalPath(bytes: bytes.last == slash ? bytes + relative : bytes + [slash] + relative)
  }

  /// Resolves another path relative to this directory. An absolute path stays as it is.
  func joined(_ other: LocalPath) -> LocalPath {
    if other.bytes.first == UInt8(ascii: "/") || self == "." { return other }
    if other == "." { return self }
    return appending(other.bytes)
  }
}
