/// Lines that are written to an output in large pieces, or one by one.
final class LineBuffer {
  private static let size = 64 * 1024

  private let output: OutputFile
  private let isByLine: Bool
  private var held: [UInt8] = []

  /// - Parameter isByLine: whether each line is written at once.
  init(_ output: OutputFile, isByLine: Bool = false) {
    (self.output, self.isByLine) = (output, isByLine)
  }

  func write(_ line: [UInt8]) throws(Failure) {
    held += line
    if isByLine || held.count >= Self.size { try flush() }
  }

  func flush() throws(Failure) {
    // The lines are dropped even if writing fails: some of their bytes may be written already, and must not be written
    // twice.
    defer { held.removeAll(keepingCapacity: true) }
    try output.write(held)
  }
}
