/// Decodes percent codes (RFC 3986 §2.1), one byte at a time, so that a code may be split between
/// two reads.
///
/// A percent sign without two hexadecimal digits after it is kept unchanged (WHATWG URL §1.3,
/// "percent-decode").
package struct PercentDecoder: Sendable {
  /// Which codes are decoded; the others are kept unchanged.
  package enum Codes: Sendable {
    /// Every code.
    case all
    /// `%22`, `%0D` and `%0A`: the codes that browsers write in names and file names.
    case quotesAndLineBreaks
  }

  private let codes: Codes
  private let readsPlusAsSpace: Bool
  /// A percent sign and at most one digit after it.
  private var pending: [UInt8] = []
  /// Whether a percent sign without two digits after it was found.
  private var foundBrokenCode = false

  /// A decoder at the start of a text.
  package init(_ codes: Codes = .all, readsPlusAsSpace: Bool = false) {
    self.codes = codes
    self.readsPlusAsSpace = readsPlusAsSpace
  }

  /// Decodes a complete text.
  package static func decoded(_ bytes: some Sequence<UInt8>, _ codes: Codes = .all) -> [UInt8] {
    var decoder = PercentDecoder(codes)
    return decoder.decodeAll(bytes)
  }

  /// Decodes a complete text; nil if a percent sign has no two digits after it.
  package static func strictlyDecoded(_ bytes: some Sequence<UInt8>) -> [UInt8]? {
    var decoder = PercentDecoder()
    let result = decoder.decodeAll(bytes)
    return decoder.foundBrokenCode ? nil : result
  }

  private mutating func decodeAll(_ bytes: some Sequence<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.underestimatedCount)
    for byte in bytes { append(byte, to: &result) }
    finish(to: &result)
    return result
  }

  /// Reads the next byte, and appends the bytes decoded so far. While a code is incomplete, it
  /// appends nothing.
  package mutating func append(_ byte: UInt8, to result: inout [UInt8]) {
    guard !pending.isEmpty else { return begin(byte, &result) }
    guard let low = Hexadecimal.value(of: byte) else {
      // The byte that breaks a code may begin another code.
      finish(to: &result)
      return begin(byte, &result)
    }
    pending.append(byte)
    guard pending.count == 3, let high = Hexadecimal.value(of: pending[1]) else { return }
    let value = high << 4 | low
    let isQuoteOrLineBreak = value == UInt8(ascii: "\"") || value == 0x0D || value == 0x0A
    if codes == .all || isQuoteOrLineBreak {
      result.append(value)
    } else {
      result += pending
    }
    pending.removeAll(keepingCapacity: true)
  }

  private mutating func begin(_ byte: UInt8, _ result: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "%"): pending.append(byte)
    case UInt8(ascii: "+") where readsPlusAsSpace: result.append(0x20)
    default: result.append(byte)
    }
  }

  /// Appends an incomplete code unchanged. Call it at the end of the text.
  package mutating func finish(to result: inout [UInt8]) {
    if !pending.isEmpty { foundBrokenCode = true }
    result += pending
    pending.removeAll(keepingCapacity: true)
  }
}
