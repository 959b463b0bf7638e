import FormStreamMultipart
import FormStreamPlatform

/// The lines of a new round's manifest after its first line. They are on the disk, in a file without a name, because the
/// first line has their numbers.
package struct RoundEntries {
  package internal(set) var round = Round(number: 1)
  /// How many unchanged files were compared by size and time although the contents were to be compared, because no earlier
  /// run has computed their digests.
  package internal(set) var uncompared = 0
  /// Whether the round has nothing to send and nothing to note.
  package var isEmpty: Bool { size == 0 && held.isEmpty }

  private static let pieceSize = 256 * 1024

  private let directory: LocalPath
  private let file: RandomAccessFile
  private var held: [UInt8] = []
  private var size: Int64 = 0
  /// How many bytes were returned.
  private var offset: Int64 = 0

  init(in directory: LocalPath) throws(BatchError) {
    self.directory = directory
    file = try Self.using(directory) { () throws(SystemError) in
      try RandomAccessFile(unnamedIn: directory)
    }
  }

  mutating func add(_ line: [UInt8]) throws(BatchError) {
    held += line
    if held.count >= Self.pieceSize { try flush() }
  }

  private mutating func flush() throws(BatchError) {
    if held.isEmpty { return }
    try Self.using(directory) { () throws(SystemError) in try file.append(held) }
    size += Int64(held.count)
    held.removeAll(keepingCapacity: true)
  }

  /// The next bytes of the lines; nil after the last. No lines can be added after this call.
  package mutating func nextPiece() throws(BatchError) -> [UInt8]? {
    try flush()
    guard offset < size else { return nil }
    let piece = try Self.using(directory) { () throws(SystemError) in
      let piece = try file.read(Self.pieceSize, at: offset)
      // The file has no name, so only a failing disk can make it shorter.
      if piece.isEmpty { throw .cutShort }
      return piece
    }
    offset += Int64(piece.count)
    return piece
  }

  private static func using<Result>(
    _ directory: LocalPath, _ body: () throws(SystemError) -> Result
  ) throws(BatchError) -> Result {
    do throws(SystemError) { return try body() } catch {
      throw .temporaryFileFailed(in: directory, ExternalSorter.failure, error)
    }
  }
}
