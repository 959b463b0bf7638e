/// The lower-case digit of a number's lowest four bits, as digests and JSON's escapes have it.
package func hexadecimalDigit(_ number: some BinaryInteger) -> UInt8 {
  let nibble = UInt8(truncatingIfNeeded: number) & 0xF
  return nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
}
