import FormStreamMultipart
import FormStreamPlatform

/// Reads the lines of a file from an offset on, and returns the offset of each line.
struct LineReader {
  struct Line {
    /// The offset of the first byte.
    let offset: Int64
    /// The bytes of the line, without the line feed.
    let bytes: [UInt8]
    /// Whether a line feed follows.
    let isComplete: Bool
  }

  enum Failure: Error {
    case system(SystemError)
    /// A line is longer than the limit.
    case lineTooLong(at: Int64)
  }

  private let pieceSize: Int
  private let file: RandomAccessFile
  private let maximumLine: Int
  /// The offset of the first byte of `held`.
  private var offset: Int64
  private var held: [UInt8] = []
  /// How many bytes of `held` were returned.
  private var start = 0
  private var isAtEnd = false

  /// - Parameter pieceSize: how many bytes are read at once.
  init(
    _ file: RandomAccessFile, from offset: Int64, maximumLine: Int, pieceSize: Int = 256 * 1024
  ) {
    self.pieceSize = pieceSize
    self.file = file
    self.offset = offset
    self.maximumLine = maximumLine
  }

  /// Where the next line begins.
  var position: Int64 { offset + Int64(start) }

  /// The next line; nil at the end of the file.
  mutating func next() throws(Failure) -> Line? {
    var searched = start
    while true {
      if let end = endOfLine(from: searched) {
        defer { start = end + 1 }
        return Line(offset: position, bytes: Array(held[start..<end]), isComplete: true)
      }
      if isAtEnd {
        if start == held.count { return nil }
        defer { start = held.count }
        return Line(offset: position, bytes: Array(held[start...]), isComplete: false)
      }
      guard held.count - start <= maximumLine else { throw .lineTooLong(at: position) }
      searched = held.count - start
      try readMore()
    }
  }

  /// Skips everything up to and including the next line feed, however far away the line feed is.
  mutating func skipLine() throws(Failure) {
    while true {
      if let end = endOfLine(from: start) {
        start = end + 1
        return
      }
      start = held.count
      if isAtEnd { return }
      try readMore()
    }
  }

  private func endOfLine(from index: Int) -> Int? {
    held.withUnsafeBytes { $0.firstIndex(of: UInt8(ascii: "\n"), from: index) }
  }

  private mutating func readMore() throws(Failure) {
    held.removeFirst(start)
    offset += Int64(start)
    start = 0
    do throws(SystemError) {
      let more = try file.read(pieceSize, at: offset + Int64(held.count))
      isAtEnd = more.count < pieceSize
      held += more
    } catch {
      throw .system(error)
    }
  }
}
