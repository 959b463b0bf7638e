import FormStreamTestSupport
import Testing

/// The URLs that colleagues can type, if the receiver listens at all addresses.
@Suite struct ReceiveURLTests {
  /// The URLs for others in the first record, without the port.
  private func urls(_ receiver: Receiving) throws -> [String] {
    let list = try #require(receiver.listening.firstMatch(of: /"urls":\[(?<urls>.*)\],"directory"/))
    return list.urls.split(separator: ",").map { url in
      url.filter { $0 != "\"" }.replacing(":\(receiver.port)/", with: "")
    }
  }

  @Test(arguments: [
    (":0", true), ("[::]:0", true), ("0.0.0.0:0", false), ("[::ffff:0.0.0.0]:0", false),
  ])
  func `they are those of all addresses that hostname knows, and each leads here`(
    _ place: String, _ hasIPv6: Bool
  ) throws {
    let receiver = try Receiving("--listen", place)
    let known = try shell("hostname -I").output.split(separator: " ").filter { $0 != "\n" }
      .filter { hasIPv6 || !$0.contains(":") }
      .map { $0.contains(":") ? "http://[\($0)]" : "http://\($0)" }
    let found = try urls(receiver)
    #expect(Set(found.filter { $0.contains(/[.:]\w*\]?$/) }) == Set(known), "\(found)")
    for url in found {
      let result = try formstream("post", "-d", "a=b", "\(url):\(receiver.port)/")
      #expect(result.exit == 0, "\(url): \(result.stderr)")
    }
    let end = try receiver.end()
    #expect(
      end.stderr.contains(
        known.isEmpty ? "no address that others" : "Others reach it at http://"), "\(end.stderr)")
  }

  @Test(
    arguments: ["0", "localhost:0", "[::1]:0", "127.0.0.2:0"].filter {
      hasIPv6 || $0 != "[::1]:0"
    })
  func `there are none if it listens for this machine alone`(_ place: String) throws {
    let receiver = try Receiving("--listen", place)
    #expect(try urls(receiver) == [])
    #expect(try !receiver.end().stderr.contains("Others"))
  }

  /// A machine of its own: a name, two addresses of a network, one of a link only, one of an interface that is down, and
  /// one of the loopback.
  private static let machine = """
    unshare -num bash -c 'hostname sunbox; mount --bind hosts /etc/hosts
      ip link set lo up; ip addr add 198.51.100.9/32 dev lo
      ip link add veth0 type veth peer name veth1; ip link add veth2 type veth peer name veth3
      ip addr add 192.0.2.77/24 dev veth0; ip addr add 2001:db8::7/64 dev veth0 nodad
      ip addr add fe80::7/64 dev veth0 nodad; ip addr add 192.0.2.78/24 dev veth2
      ip link set veth1 up; ip link set veth0 up
      exec "$F" receive --listen :0 PLACE --json 2> messages'
    """
  private static let hasMachine =
    isSuperuser
    && (try? shell("unshare -num ip link add veth0 type veth peer name veth1").exit) == 0

  @Test(
    .enabled(if: hasMachine, "only root may make a network"),
    arguments: [
      // Debian gives the name 127.0.1.1, by which nobody else reaches it.
      ("127.0.1.1 sunbox", []), ("192.0.2.77 sunbox", ["http://sunbox"]),
      ("2001:db8::7 sunbox", ["http://sunbox"]), ("192.0.2.99 sunbox", []),
    ])
  func `the name comes first, if others reach this machine by it`(
    _ hosts: String, _ names: [String]
  ) throws {
    let place = try TemporaryDirectory()
    try place.write("hosts", "127.0.0.1 localhost\n\(hosts)\n")
    let receiver = try Receiving(
      shell: Self.machine.replacing(" PLACE", with: ""), in: place)
    #expect(try urls(receiver) == names + ["http://192.0.2.77", "http://[2001:db8::7]"])
    try receiver.end()
    let messages = try receiver.shell("cat messages").output
    let all = (names + ["http://192.0.2.77", "http://[2001:db8::7]"])
      .map { "\($0):\(receiver.port)/" }.joined(separator: " ")
    #expect(messages.contains("formstream: Others reach it at \(all)\n"), "\(messages)")
  }
}
