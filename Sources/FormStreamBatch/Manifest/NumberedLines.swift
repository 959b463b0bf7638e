import FormStreamMultipart

/// Lines with numbers, in the order of the numbers. They are sorted on the disk, so memory does not grow with how many there are.
final class NumberedLines {
  private let sorter: ExternalSorter
  /// How many lines were added without a number.
  private var count: Int64 = 0
  private var lines: SortedLines?
  private var ahead: (key: [UInt8], line: [UInt8])?

  /// - Parameter directory: the directory for temporary files.
  init(in directory: LocalPath) {
    sorter = ExternalSorter(in: directory, memory: 16 * 1024 * 1024)
  }

  /// Adds a line with a number. Lines with the same number keep their order.
  func add(_ line: [UInt8], number: Int64) throws(BatchError) {
    try sorter.add(line, key: Self.key(of: number))
  }

  /// Adds a line, so that the lines keep the order in which they are added. All lines must be added so, or all with numbers.
  func add(_ line: [UInt8]) throws(BatchError) {
    try add(line, number: count)
    count += 1
  }

  /// The next line; nil after the last. No line can be added after this call.
  func next() throws(BatchError) -> [UInt8]? { try nextEntry()?.line }

  /// What the last line with a number says that says anything; nil if none does. The numbers must be asked for in their order, and no
  /// line can be added after this call.
  func last<Value>(_ number: Int64, _ read: ([UInt8]) -> Value?) throws(BatchError) -> Value? {
    let key = Self.key(of: number)
    var value: Value?
    while let entry = try nextEntry() {
      guard !key.lexicographicallyPrecedes(entry.key) else {
        ahead = entry
        break
      }
      if entry.key == key { value = read(entry.line) ?? value }
    }
    return value
  }

  private func nextEntry() throws(BatchError) -> (key: [UInt8], line: [UInt8])? {
    if let entry = ahead.take() { return entry }
    if lines == nil { lines = try sorter.sorted() }
    return try lines?.next()
  }

  /// The bytes of numbers sort like the numbers if the most significant byte comes first.
  private static func key(of number: Int64) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian, Array.init)
  }
}
