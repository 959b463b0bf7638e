/// Values as bytes that only this process reads, such as a line of a sorter.
struct StoredBytes {
  private(set) var bytes: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8] = []) {
    self.bytes = bytes
  }

  mutating func add(_ number: Int64) {
    withUnsafeBytes(of: number) { bytes += $0 }
  }

  mutating func add(_ list: [UInt8]) {
    add(Int64(list.count))
    bytes += list
  }

  mutating func number() -> Int64 {
    defer { place += 8 }
    guard place + 8 <= bytes.count else { return 0 }
    return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: Int64.self) }
  }

  mutating func list() -> [UInt8] {
    let count = Int(number())
    defer { place += count }
    return Array(bytes[min(place, bytes.count)..<min(place + count, bytes.count)])
  }

  mutating func text() -> String { String(decoding: list(), as: UTF8.self) }
}
