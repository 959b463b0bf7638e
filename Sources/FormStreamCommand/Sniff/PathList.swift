import FormStreamMultipart

/// A file that lists paths.
struct PathList {
  let file: Argument
  /// The byte that ends each path.
  let terminator: UInt8
}

/// Reads the paths of a list one by one: a list may have no end.
final class PathListReader {
  /// Longer than any path on Linux.
  private static let maximumPath = 64 * 1024

  private let source: any ByteSource
  private let input: NamedInput
  private let terminator: UInt8
  private var held: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  init(_ list: PathList) throws(Failure) {
    input = NamedInput(list.file)
    source = try input.open()
    terminator = list.terminator
  }

  deinit { source.close() }

  /// The next path; nil after the last. Empty lines are skipped.
  func next() throws(Failure) -> LocalPath? {
    while true {
      if let end = held[start...].firstIndex(of: terminator) {
        defer { start = end + 1 }
        if end > start { return LocalPath(bytes: held[start..<end]) }
      } else if isAtEnd {
        defer { start = held.count }
        return start < held.count ? LocalPath(bytes: held[start...]) : nil
      } else {
        try readMore()
      }
    }
  }

  private func readMore() throws(Failure) {
    held.removeFirst(start)
    start = 0
    guard held.count <= Self.maximumPath else {
      // Not a usage error: files from the same list may have been sniffed already.
      throw Failure(
        .noInput,
        "\(input) has a path of more than \(Self.maximumPath) bytes: check what ends each path "
          + "(--files-from: a line feed, --files-from0: a NUL).")
    }
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    let count: Int
    do {
      count = try buffer.withUnsafeMutableBytes { try source.read(into: $0) }
    } catch {
      throw Failure(.inputOutput, "\(input) could not be read to its end: \(error). Try again.")
    }
    isAtEnd = count == 0
    held += buffer[..<count]
  }
}
