package import FormStreamMultipart
import FormStreamPlatform
import FormStreamJSON

/// Reads the paths of a list one by one, because a list may be endless.
package final class PathListReader {
  private static let maximumPath = ManifestRecord.maximumPath

  private let source: any ByteSource
  private let name: String
  private let ending: UInt8
  private var held: [UInt8] = []
  private var start = 0
  private var isAtEnd = false
  /// The number of the last path's line, from 1. Empty lines count.
  package private(set) var lineNumber = 0

  /// Reads from a source, and closes it at the end.
  ///
  /// - Parameter name: a name for the list that can be the subject of a sentence in messages.
  package init(_ source: any ByteSource, name: String, ending: BatchSource.Ending) {
    self.source = source
    self.name = name
    self.ending = ending.rawValue
  }

  deinit { source.close() }

  /// The next path; nil after the last. Empty lines are skipped.
  package func next() throws(BatchError) -> LocalPath? {
    while true {
      if let end = held[start...].firstIndex(of: ending) {
        defer { start = end + 1 }
        lineNumber += 1
        if end > start { return try path(held[start..<end]) }
      } else if isAtEnd {
        defer { start = held.count }
        lineNumber += 1
        return start < held.count ? try path(held[start...]) : nil
      } else {
        try checkLength(held.count - start)
        try readMore()
      }
    }
  }

  private func path(_ bytes: ArraySlice<UInt8>) throws(BatchError) -> LocalPath {
    try checkLength(bytes.count)
    return LocalPath(bytes: bytes)
  }

  private func checkLength(_ count: Int) throws(BatchError) {
    guard count <= Self.maximumPath else {
      throw BatchError(
        .listMalformed, on: name,
        "\(name) has a path of more than \(Self.maximumPath) bytes: check what ends each path."
      )
    }
  }

  /// A hint about what may be wrong with the list if this path does not exist; empty if there is no hint.
  func hint(on path: LocalPath) -> String {
    if path.bytes.starts(with: "\u{FEFF}".utf8) {
      return " The path begins with a byte order mark: save the list without one."
    }
    if ending == BatchSource.Ending.nul.rawValue {
      return path.bytes.contains(UInt8(ascii: "\n"))
        ? " The path has a line break in it: check what ends each path of the list." : ""
    }
    if path.bytes.contains(0) {
      return " The path has a NUL in it: check what ends each path of the list."
    }
    return path.bytes.last == UInt8(ascii: "\r")
      ? " The path ends with a carriage return, as the lines of Windows do: convert the list." : ""
  }

  private func readMore() throws(BatchError) {
    held.removeFirst(start)
    start = 0
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    let count: Int
    do {
      count = try buffer.withUnsafeMutableBytes { try source.read(into: $0) }
    } catch let error as SystemError where error == .isADirectory {
      throw BatchError(
        .listUnreadable, on: name, "\(name) is a directory: name a file that lists paths.",
        underlying: error)
    } catch {
      throw BatchError(
        .readFailed, on: name, "\(name) could not be read to its end: \(error). Try again.")
    }
    isAtEnd = count == 0
    held += buffer[..<count]
  }
}
