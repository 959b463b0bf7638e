package import FormStreamMultipart

/// Reads the paths of a list one by one: a list may have no end.
package final class PathListReader {
  /// Longer than any path on Linux.
  private static let maximumPath = 64 * 1024

  private let source: any ByteSource
  private let name: String
  private let ending: UInt8
  private var held: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  /// Reads from a source, and closes it at the end.
  ///
  /// - Parameter name: the list as the subject of a sentence.
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
        if end > start { return LocalPath(bytes: held[start..<end]) }
      } else if isAtEnd {
        defer { start = held.count }
        return start < held.count ? LocalPath(bytes: held[start...]) : nil
      } else {
        try readMore()
      }
    }
  }

  private func readMore() throws(BatchError) {
    held.removeFirst(start)
    start = 0
    guard held.count <= Self.maximumPath else {
      throw BatchError(
        .listMalformed, on: name,
        "\(name) has a path of more than \(Self.maximumPath) bytes: check what ends each path."
      )
    }
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    let count: Int
    do {
      count = try buffer.withUnsafeMutableBytes { try source.read(into: $0) }
    } catch {
      throw BatchError(
        .readFailed, on: name, "\(name) could not be read to its end: \(error). Try again.")
    }
    isAtEnd = count == 0
    held += buffer[..<count]
  }
}
