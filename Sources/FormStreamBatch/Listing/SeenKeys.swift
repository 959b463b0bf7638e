package import FormStreamMultipart
import FormStreamPlatform

/// A set of keys, in bounded memory. A set with more than some thousand keys is kept on the disk.
///
/// The set contains a hash of 128 bits for each key, made with a secret of this process. In practice, two keys never have
/// the same hash, and an attacker can't choose names whose hashes are the same.
package final class SeenKeys {
  /// The 128 bits that stand for a key. They are never all 0, because zeros stand for an empty place in the file.
  private struct Mark: Hashable {
    let high: UInt64
    let low: UInt64

    init(_ key: [UInt8]) {
      let halves = [0, 1].map { number in
        var hasher = Hasher()
        hasher.combine(number)
        key.withUnsafeBytes { hasher.combine(bytes: $0) }
        return UInt64(bitPattern: Int64(hasher.finalize()))
      }
      (high, low) = (halves[0], halves[1] | 1)
    }

    init(high: UInt64, low: UInt64) {
      (self.high, self.low) = (high, low)
    }
  }

  private static let markSize: Int64 = 16
  /// How many places of the file are read at once in the search for a mark.
  private static let pieceCount: Int64 = 8

  private let directory: LocalPath
  private let maximumHeld: Int
  private var held: Set<Mark> = []
  private var file: RandomAccessFile?
  /// How many places the file has. A place is room for one mark.
  private var placeCount: Int64 = 0
  private var storedCount: Int64 = 0

  /// - Parameters:
  ///   - directory: the directory for the file that contains the keys. The file has no name.
  ///   - maximumHeld: how many keys are kept in memory; tests use fewer.
  package init(in directory: LocalPath, maximumHeld: Int = 16 * 1024) {
    self.directory = directory
    self.maximumHeld = maximumHeld
  }

  /// Adds a key. Returns false if the set had the key already.
  ///
  /// - Throws: `writeFailed`.
  package func insert(_ key: [UInt8]) throws(BatchError) -> Bool {
    let mark = Mark(key)
    if file == nil, held.count < maximumHeld { return held.insert(mark).inserted }
    do throws(SystemError) {
      if file == nil {
        try makeFile(places: Int64(4 * max(maximumHeld, 16)))
        for mark in held { _ = try store(mark) }
        held = []
      }
      // At most half of the places are taken.
      if storedCount >= placeCount / 2 { try grow() }
      return try store(mark)
    } catch {
      throw .temporaryFileFailed(in: directory, "The names of the files can't be compared", error)
    }
  }

  /// Whether a key was added.
  ///
  /// - Throws: `writeFailed`.
  package func contains(_ key: [UInt8]) throws(BatchError) -> Bool {
    let mark = Mark(key)
    guard file != nil else { return held.contains(mark) }
    do throws(SystemError) {
      return try place(of: mark)?.isTaken ?? false
    } catch {
      throw .temporaryFileFailed(in: directory, "The names of the files can't be compared", error)
    }
  }

  private func makeFile(places: Int64) throws(SystemError) {
    file = try RandomAccessFile(unnamedIn: directory)
    (placeCount, storedCount) = (places, 0)
  }

  /// Makes a file with four times the places, and copies the marks. Places to which nothing was written contain zeros.
  private func grow() throws(SystemError) {
    guard let old = file else { return }
    let oldCount = placeCount
    try makeFile(places: 4 * oldCount)
    var place: Int64 = 0
    while place < oldCount {
      let piece = try Self.marks(in: old, from: place, upTo: min(place + 4096, oldCount))
      for mark in piece { if let mark { _ = try store(mark) } }
      place += 4096
    }
  }

  /// Puts a mark into its place. Returns false if the mark is there already.
  private func store(_ mark: Mark) throws(SystemError) -> Bool {
    guard let file, let found = try place(of: mark), !found.isTaken else { return false }
    let bytes = [mark.high, mark.low].flatMap { withUnsafeBytes(of: $0, Array.init) }
    try file.write(bytes, at: found.place * Self.markSize)
    storedCount += 1
    return true
  }

  /// The place that a mark's bits select, or the next one that has this mark or is empty, and whether it has the mark. There is
  /// always an empty place.
  private func place(of mark: Mark) throws(SystemError) -> (place: Int64, isTaken: Bool)? {
    guard let file else { return nil }
    var place = Int64(mark.high % UInt64(placeCount))
    while true {
      let end = min(place + Self.pieceCount, placeCount)
      for found in try Self.marks(in: file, from: place, upTo: end) {
        if found == mark { return (place, true) }
        if found == nil { return (place, false) }
        place += 1
      }
      if place == placeCount { place = 0 }
    }
  }

  /// The marks at some places; nil for each empty place.
  private static func marks(
    in file: RandomAccessFile, from place: Int64, upTo end: Int64
  ) throws(SystemError) -> [Mark?] {
    let bytes = try file.read(Int((end - place) * markSize), at: place * markSize)
    return bytes.withUnsafeBytes { bytes in
      (0..<Int(end - place)).map { index in
        let start = index * Int(markSize)
        guard start + Int(markSize) <= bytes.count else { return nil }
        let low = bytes.loadUnaligned(fromByteOffset: start + 8, as: UInt64.self)
        return low == 0
          ? nil : Mark(high: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self), low: low)
      }
    }
  }
}
