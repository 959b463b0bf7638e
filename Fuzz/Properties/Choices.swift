/// The choices of the fuzzer, read from the front of its input. After its end all choices are zero,
/// so zero is the ordinary choice everywhere.
struct Choices {
  private(set) var rest: ArraySlice<UInt8>

  init(_ input: [UInt8]) { rest = input[...] }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  mutating func bool() -> Bool { byte() & 1 == 1 }

  mutating func below(_ limit: Int) -> Int { Int(byte()) % limit }

  /// An offset that may be larger than a byte. The caller reduces it to its range.
  mutating func place() -> Int { Int(byte()) << 8 | Int(byte()) }

  mutating func bytes(_ count: Int) -> [UInt8] {
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  /// A text of up to 255 bytes; bytes that are not UTF-8 become U+FFFD.
  mutating func text() -> String {
    String(decoding: bytes(Int(byte())), as: UTF8.self)
  }

  /// The rest of the input. If the first byte chooses it, a piece of the rest is repeated so often
  /// that reading it in quadratic time takes longer than the fuzzer waits. One input in sixteen is
  /// enough, because such inputs take a hundred times as long as others.
  mutating func restOrStretch() -> (text: [UInt8], isStretched: Bool) {
    let isOneOfMany = rest.reduce(0, &+) & 15 == 0
    let wantsStretch = byte() == 0xFF && isOneOfMany
    let (first, second) = (Int(byte()), Int(byte()))
    let text = Array(rest)
    guard wantsStretch, !text.isEmpty else { return (text, false) }
    let start = first % text.count
    let stretch = text[start...].prefix(1 + second % 16)
    let times = 128 * 1024 / stretch.count
    let stretched = repeatElement(stretch, count: times).joined()
    return (Array(text[..<start]) + stretched + text[(start + stretch.count)...], true)
  }
}

extension Sequence<Int> {
  /// The cuts in a body of `size` bytes, in order.
  func cuts(of size: Int) -> [Int] { map { $0 % (size + 1) }.sorted() }
}
