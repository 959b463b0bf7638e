import FormStreamTestSupport
import FormStreamTransfer
import Testing

/// Waits until a request of its own has ended because nothing moved for this long. So a test knows that the limit of
/// another request is over, however slow the machine is.
func waitForStall(longerThan limit: Duration) async throws {
  let server = try ScriptedServer { _ in
    [.readBody, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na"), .stall]
  }
  var request = try makeRequest(.get, server.url, nil)
  request.options.timeLimits.stall = limit * 2
  let result = try await makeSession().result(of: request)
  #expect(result.error?.code == .stalled)
}
