import FormStreamTestSupport
import Testing

/// When the first response of a connection leaves, seen by the system calls of the receiver.
@Suite struct ReceiveNoDelayTests {
  /// Regression: with TLS 1.3 the response waited 41 ms behind the session tickets, until the client acknowledged them.
  @Test(arguments: [false, true])
  func `nothing that a connection sends waits for an acknowledgment`(usesTLS: Bool) throws {
    let place = try TemporaryDirectory()
    let made = try TestCertificates()
    _ = try shell("cp '\(made.server.certificate)' cert; cp '\(made.server.key)' key", in: place)
    let flags = usesTLS ? "--tls-cert cert --tls-key key" : ""
    let receiver = try Receiving(
      shell: "strace -f -o trace -e trace=accept4,setsockopt,sendto,sendmsg,writev,recvfrom "
        + "$F receive --json --listen 0 --once \(flags)", in: place)
    _ = try receiver.shell("curl -sk -d a=b $U")
    _ = try receiver.wait()
    let calls = try shell("cat trace", in: place).output.split(separator: "\n").map(String.init)
    let accepted = try #require(
      calls.firstIndex { $0.contains("accept4(") && !$0.contains(" = -1 ") }, "\(calls)")
    let set = try #require(
      calls.firstIndex { $0.contains("TCP_NODELAY, [1]") }, "\(calls)")
    let received = try #require(
      calls.indices.first { $0 > accepted && calls[$0].contains("recvfrom(") }, "\(calls)")
    #expect(set < received, "\(calls)")
  }
}
