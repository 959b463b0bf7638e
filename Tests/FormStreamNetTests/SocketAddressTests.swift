import FormStreamNet
import FormStreamPlatform
import Testing

@Suite struct SocketAddressTests {
  @Test(arguments: [
    ("127.0.0.1", "127.0.0.1:80", "127.0.0.1", true),
    ("0.0.0.0", "0.0.0.0:80", "0.0.0.0", false),
    ("255.1.2.3", "255.1.2.3:80", "255.1.2.3", false),
    ("126.255.255.255", "126.255.255.255:80", "126.255.255.255", false),
    ("127.255.255.255", "127.255.255.255:80", "127.255.255.255", true),
    ("::1", "[::1]:80", "::1", true),
    ("::", "[::]:80", "::", false),
    ("0:0:0:0:0:0:0:1", "[::1]:80", "::1", true),
    ("2001:DB8::1", "[2001:db8::1]:80", "2001:db8::1", false),
    ("::ffff:127.0.0.1", "[::ffff:127.0.0.1]:80", "::ffff:127.0.0.1", true),
    ("::ffff:128.0.0.1", "[::ffff:128.0.0.1]:80", "::ffff:128.0.0.1", false),
    ("1::1", "[1::1]:80", "1::1", false),
    ("fe80::1%lo", "[fe80::1%lo]:80", "fe80::1%lo", false),
    ("fe80::1%1", "[fe80::1%lo]:80", "fe80::1%lo", false),
    ("fe80::1%4000000000", "[fe80::1%4000000000]:80", "fe80::1%4000000000", false),
  ])
  func `a numeric address is parsed and shown`(
    _ text: String, _ shown: String, _ host: String, _ isLoopback: Bool
  ) throws {
    let address = try #require(SocketAddress(text, port: 80))
    #expect(address.description == shown)
    #expect(address.host == host)
    #expect(address.isLoopback == isLoopback)
    #expect(SocketAddress(host, port: 80) == address)
    #expect((address.port, address.at(port: 9).port) == (80, 9))
  }

  /// What is left out or spelled otherwise is a matter for a name service, or an error. C ends at a NUL.
  @Test(arguments: [
    "", "localhost", "127.1", "0x7f000001", "2130706433", "127.0.0.01", "127.0.0.256", " 127.0.0.1", "127.0.0.1 ",
    "127.0.0.1\0x",
    "[::1]", "::1\0", ":::", "1:2", "fe80::1%", "fe80::1%no-such-interface", "fe80::1%4294967296", "fe80::1%lo\0", "::1%-1",
    "127.0.0.1%lo",
  ])
  func `other text is no numeric address`(_ text: String) {
    #expect(SocketAddress(text, port: 80) == nil)
  }

  @Test func `the names of Unix-domain sockets have limits`() throws {
    typealias Name = SocketAddress.UnixName
    let longest = [UInt8](repeating: 0x61, count: 107)
    #expect(Name(path: []) == nil && Name(abstract: []) == nil)
    #expect(Name(path: [0x61, 0]) == nil)
    #expect(Name(path: longest)?.isAbstract == false && Name(path: longest + [0x61]) == nil)
    #expect(Name(abstract: longest)?.isAbstract == true && Name(abstract: longest + [0x61]) == nil)
    let path = SocketAddress.unix(try #require(Name(path: Array("/run/a b".utf8))))
    let abstract = SocketAddress.unix(try #require(Name(abstract: [0x61, 0, 0x62])))
    #expect(path.description == "/run/a b" && abstract.description == "@a\0b")
    #expect(path.port == nil && path.host == nil && path.at(port: 5) == path && path.isLoopback)
  }

  /// What the system makes of the bytes that this package writes, and what this package makes of the system's.
  @Test(arguments: ["127.0.0.1", "127.1.2.3", "0.0.0.0", "::1", "::"])
  func `the system reads an address as it was meant`(_ text: String) throws {
    let listener = try Listener(at: try address(text))
    #expect(listener.address.host == text)
    #expect(listener.address.port != 0)
    let again = try #require(throws: SystemError.self) { try Listener(at: listener.address) }
    #expect(again.description == "Address already in use")
  }

  @Test func `the longest abstract name is the same to the system`() throws {
    var name = [UInt8](repeating: 0x61, count: 107)
    var chance = SystemRandomNumberGenerator()
    for place in 0..<8 { name[place] = UInt8.random(in: 0...255, using: &chance) }
    name[50] = 0
    let address = SocketAddress.unix(try #require(SocketAddress.UnixName(abstract: name)))
    let listener = try Listener(at: address)
    #expect(listener.address == address)
    let client = try Socket(.unix)
    guard case .connected = try client.connect(to: address) else {
      Issue.record("There is no connection.")
      return
    }
    #expect(try client.peerAddress == address)
    // A client's socket has no name.
    #expect(try client.localAddress?.description == "")
  }
}
