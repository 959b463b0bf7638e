/// Appends a number of millionths as a decimal fraction: `0.25`, `-3.000001`, `12.0`. One digit stands behind
/// the point even where none is needed, so that a reader that tells integers from fractions finds the
/// same kind in every record.
///
/// RFC 8259 §6: number = [ minus ] int [ frac ] [ exp ]. There is never an exponent here.
func writeMillionths(_ number: Int64, to bytes: inout [UInt8]) {
  if number < 0 { bytes.append(UInt8(ascii: "-")) }
  let (whole, rest) = number.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
  bytes += String(whole).utf8
  bytes.append(UInt8(ascii: "."))
  // A leading one keeps the zeros in front; it is cut off again.
  let digits = String(1_000_000 + rest).utf8.dropFirst()
  let length = digits.lastIndex { $0 != UInt8(ascii: "0") }.map { digits[...$0].count } ?? 1
  bytes += digits.prefix(length)
}

/// RFC 8259 §6: "Numeric values that cannot be represented in the grammar below (such as Infinity and NaN)
/// are not permitted." They become null, as do numbers past what 64 bits hold: nothing that was measured
/// is as large.
extension JSONValue {
  /// The number, rounded to millionths: seconds to microseconds.
  package static func fraction(rounding number: Double?) -> JSONValue {
    number.flatMap { Int64(exactly: ($0 * 1_000_000).rounded()) }.map(JSONValue.millionths) ?? .null
  }

  /// The number, rounded to an integer.
  package static func integer(rounding number: Double?) -> JSONValue {
    number.flatMap { Int64(exactly: $0.rounded()) }.map(JSONValue.integer) ?? .null
  }
}
