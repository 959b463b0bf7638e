extension Int64 {
  /// The sum of two numbers that are not negative, or the largest number if the sum does not fit. A manifest may state
  /// sizes that large.
  package func addingClamped(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
