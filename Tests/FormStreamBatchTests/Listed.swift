import FormStreamBatch
import FormStreamMultipart
import FormStreamTestSupport

/// All files of a listing.
func listed(
  _ sources: [BatchSource], _ options: ListingOptions = ListingOptions()
) throws -> [BatchFile] {
  let listing = try FileListing(sources, options)
  var files: [BatchFile] = []
  while let file = try listing.next() { files.append(file) }
  return files
}

/// The relative paths of the files that can be sent, sorted.
func names(
  _ directory: TemporaryDirectory, _ change: (inout ListingOptions) throws -> Void = { _ in }
) throws -> [String] {
  var options = ListingOptions()
  try change(&options)
  return try listed([.path(LocalPath(directory.path))], options)
    .filter { $0.problem == nil }.map(\.relative.description).sorted()
}

extension BatchSource {
  /// A list that is in memory.
  static func text(_ bytes: [UInt8], ending: Ending = .lineFeed) -> BatchSource {
    .list(name: "The list", ending: ending) { ScriptedSource(bytes) }
  }

  static func text(_ text: String, ending: Ending = .lineFeed) -> BatchSource {
    .text(Array(text.utf8), ending: ending)
  }
}

extension TemporaryDirectory {
  /// Makes directories, and a file of some bytes in the last one.
  @discardableResult func make(_ path: String, size: Int = 1) throws -> LocalPath {
    var directory = ""
    for name in path.split(separator: "/").dropLast() {
      directory += "/\(name)"
      try? makeDirectory(local(String(directory.dropFirst())))
    }
    return try write(path, [UInt8](repeating: 0x61, count: size))
  }
}
