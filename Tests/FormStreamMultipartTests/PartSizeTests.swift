import Testing

@testable import FormStreamMultipart

@Suite struct PartSizeTests {
  /// A form may have 100,000 texts, and the benchmarks allow 400 bytes for each with its name, its text and its place in the
  /// layout.
  @Test func `a part is small, whatever other parts need`() {
    #expect(MemoryLayout<Part>.stride <= 136, "\(MemoryLayout<Part>.stride), of which the body \(MemoryLayout<PartBody>.size)")
  }
}
