extension Int64 {
  /// The sum of two numbers that are not negative, or the largest number if it does not fit: sizes in a manifest may be any.
  package func addingClamped(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
