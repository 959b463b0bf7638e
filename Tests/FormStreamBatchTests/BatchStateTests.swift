import FormStreamBatch
import Testing

struct BatchStateTests {
  @Test func `states have the names that records use`() {
    #expect(
      BatchState.allCases.map(\.rawValue)
        == ["ok", "failed", "retryable", "unknown", "source-changed", "skipped"])
  }
}
