import FormStreamPlatform

/// A file of lines that are sorted by their keys. For each line the file has the lengths of key and line, the key, and the
/// line.
struct SortedRun {
  let file: RandomAccessFile
  let size: Int64
}

/// Writes a run.
struct RunWriter {
  private static let pieceSize = 256 * 1024

  private let file: RandomAccessFile
  private var held: [UInt8] = []
  private var size: Int64 = 0

  init(_ file: RandomAccessFile) {
    self.file = file
  }

  mutating func write(_ key: [UInt8], _ line: [UInt8]) throws(SystemError) {
    for count in [key.count, line.count] {
      withUnsafeBytes(of: UInt32(clamping: count)) { held += $0 }
    }
    held += key
    held += line
    if held.count >= Self.pieceSize { try flush() }
  }

  private mutating func flush() throws(SystemError) {
    try file.append(held)
    size += Int64(held.count)
    held.removeAll(keepingCapacity: true)
  }

  mutating func finish() throws(SystemError) -> SortedRun {
    try flush()
    return SortedRun(file: file, size: size)
  }
}

/// Reads a run.
struct RunReader {
  private static let pieceSize = 64 * 1024
  private static let headSize = 8

  private let run: SortedRun
  private var offset: Int64 = 0
  private var held: [UInt8] = []
  private var start = 0
  private(set) var current: (key: [UInt8], line: [UInt8])?

  init(_ run: SortedRun) throws(SystemError) {
    self.run = run
    try advance()
  }

  /// Goes on to the next line; `current` is nil after the last.
  mutating func advance() throws(SystemError) {
    guard offset + Int64(start) < run.size || start < held.count else {
      current = nil
      return
    }
    try hold(Self.headSize)
    let keyCount = length(at: start)
    let lineCount = length(at: start + 4)
    try hold(Self.headSize + keyCount + lineCount)
    let key = start + Self.headSize
    let line = key + keyCount
    current = (Array(held[key..<line]), Array(held[line..<line + lineCount]))
    start = line + lineCount
  }

  private func length(at index: Int) -> Int {
    held.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: index, as: UInt32.self)) }
  }

  /// Reads until ``held`` has `count` bytes from ``start`` on.
  private mutating func hold(_ count: Int) throws(SystemError) {
    guard held.count - start < count else { return }
    held.removeFirst(start)
    offset += Int64(start)
    start = 0
    held += try run.file.read(
      max(Self.pieceSize, count - held.count), at: offset + Int64(held.count))
    // The file has no name, so only a failing disk can make it shorter.
    guard held.count >= count else { throw .cutShort }
  }
}

/// Merges runs. Among lines with equal keys, the lines of earlier runs come first.
struct RunMerge {
  private var readers: [RunReader] = []
  /// The readers that are not at their end, as a binary heap by their current keys.
  private var heap: [Int] = []

  init(_ runs: [SortedRun]) throws(SystemError) {
    for run in runs {
      readers.append(try RunReader(run))
      if readers[readers.count - 1].current != nil { heap.append(readers.count - 1) }
    }
    for index in heap.indices.reversed() { sink(index) }
  }

  mutating func next() throws(SystemError) -> (key: [UInt8], line: [UInt8])? {
    guard let first = heap.first, let current = readers[first].current else { return nil }
    try readers[first].advance()
    if readers[first].current == nil {
      heap[0] = heap[heap.count - 1]
      heap.removeLast()
    }
    if !heap.isEmpty { sink(0) }
    return current
  }

  private mutating func sink(_ index: Int) {
    var parent = index
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
        if precedes(heap[child], heap[least]) { least = child }
      }
      if least == parent { return }
      heap.swapAt(parent, least)
      parent = least
    }
  }

  private func precedes(_ one: Int, _ other: Int) -> Bool {
    guard let first = readers[one].current?.key, let second = readers[other].current?.key else {
      return false
    }
    return first == second ? one < other : first.lexicographicallyPrecedes(second)
  }
}
