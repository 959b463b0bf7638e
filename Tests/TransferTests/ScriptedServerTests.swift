import FormStream
import TestSupport
import Testing

@Suite struct ScriptedServerTests {
  @Test func `a body is recorded as it was sent`() throws {
    let server = try ScriptedServer { _ in .good(201, body: "made") }
    let said = try curl("--data-binary", "hello", "\(server.url)/there")
    #expect(said.output == "made")
    server.stop()
    #expect(server.faults == [])
    #expect(server.requests.map(\.target) == ["/there"])
    #expect(server.requests.map(\.framing) == [.contentLength(5)])
    #expect(server.requests.first?.body == Array("hello".utf8))
  }
}

/// Runs curl, quietly, without a configuration of the user's.
func curl(_ arguments: String...) throws -> Invocation {
  try run(program: "/usr/bin/env", ["curl", "-q", "-sS"] + arguments)
}
