import FormStreamMultipart

/// A file with paths in it.
struct PathList {
  let file: Argument
  /// What stands behind each path.
  let terminator: UInt8
}

/// Reads paths from a list as they are asked for: a list may have no end.
final class PathListReader {
  /// No path on Linux is as long.
  private static let maximumPath = 64 * 1024

  private let source: any ByteSource
  private let input: BodyInput
  private let terminator: UInt8
  private var held: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  init(_ list: PathList) throws(Failure) {
    input = list.file.bytes == Array("-".utf8) ? .standardInput : .path(list.file.path)
    source = try input.open()
    terminator = list.terminator
  }

  deinit { source.close() }

  /// The next path; nil behind the last. Empty lines are passed over.
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
      // Not a matter of usage any more: others of its paths may be done by now.
      throw Failure(
        .noInput,
        "\(input) has a path of more than \(Self.maximumPath) bytes: is it a list with another end behind "
          + "each path (--files-from, --files-from0)?")
    }
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    let count: Int
    do {
      count = try buffer.withUnsafeMutableBytes { try source.read(into: $0) }
    } catch {
      throw Failure(.inputOutput, "\(input) could not be read on: \(error). Try again.")
    }
    isAtEnd = count == 0
    held += buffer[..<count]
  }
}
