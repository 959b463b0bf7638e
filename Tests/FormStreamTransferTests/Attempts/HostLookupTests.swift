import FormStreamTestSupport
import Testing
import FormStreamTransfer

/// Hosts that are not found. `PostDeliveryTests` has one whose name servers don't respond.
@Suite struct HostLookupTests {
  /// The system refuses this name without asking a name server.
  @Test func `a host that doesn't exist is not looked for again`() async throws {
    let result = try await makeSession().result(of: makeRequest("http://a..b/", attempts: 3))
    #expect(result.outcome == .failed)
    #expect(result.error?.code == .hostNotFound)
    #expect(result.attempts == 1)
    #expect(result.totalBytesSent == 0)
  }
}
