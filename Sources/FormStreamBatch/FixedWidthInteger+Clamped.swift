extension FixedWidthInteger {
  /// The sum of two numbers that are not negative, or the largest number if the sum does not fit. A manifest may state
  /// sizes that large.
  package func addingClamped(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
