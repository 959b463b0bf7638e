import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// The digest that a client announces (RFC 9530).
@Suite struct BodyDigestTests {
  /// `printf abc | openssl dgst -sha256 -binary | base64`
  private static let abc = "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:"
  /// `printf abd | openssl dgst -sha256 -binary | base64`
  private static let abd = "sha-256=:pS0VnyYrLG3bckphhAvvw26zDIiHekAwtly+himESck=:"
  private static let sha512 =
    "sha-512=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==:"

  @Test(
    arguments: [
      abc, "\(abc), \(sha512)", "md5=1,\(abc);a;b=\"c\"", " \(abc)\t,\t x-1=?0 ",
      "\(abd), \(abc)", "\(abc)\r\nX: y",
    ], ["Content-Digest", "repr-digest"])
  func `a body with the announced digest is stored`(_ value: String, _ name: String) async throws {
    for makesDigests in [true, false] {
      let server = try DirectoryServer { $0.makesDigests = makesDigests }
      let response = try await server.put("abc", "\(name): \(value)")
      #expect(response.status == 200, "\(response)")
      #expect(server.names == ["a"])
    }
  }

  @Test(
    arguments: [abd, "\(abd), \(sha512)", "\(abc), \(abd)", "x=1, \(abd)"],
    ["Content-Digest", "Repr-Digest"])
  func `a body with another digest is refused, and nothing of it is stored`(
    _ value: String, _ name: String
  ) async throws {
    for makesDigests in [true, false] {
      let server = try DirectoryServer { $0.makesDigests = makesDigests }
      let response = try await server.put("abc", "\(name): \(value)")
      #expect(response.status == 400, "\(response)")
      #expect(response.text.contains(#""code":"digest-mismatch""#), "\(response)")
      #expect(server.names == [])
    }
  }

  @Test func `both digests must be those of the body`() async throws {
    let server = try DirectoryServer()
    for (content, repr) in [(Self.abc, Self.abd), (Self.abd, Self.abc)] {
      let response = try await server.put(
        "abc", "Content-Digest: \(content)", "Repr-Digest: \(repr)")
      #expect(response.status == 400)
    }
    #expect(server.names == [])
  }

  /// RFC 9651 §4.2: if parsing fails, "the complete HTTP message MUST be treated as malformed" is one of two choices. If
  /// the header were ignored, the client would take the response for a confirmation of its digest.
  @Test(arguments: [
    "sha-256", "sha-256=", "sha-256=ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", "sha-256=:abc:",
    "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", "sha-256=::", "sha-256=?1", "=:YQ==:",
    "SHA-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:", "\(abc),", "\(abc);", "\(abc) x",
    "sha-256 =:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:", "x=\"", "x=(1 2", "x=1.2.3", "x=é",
  ])
  func `a digest that can't be read is refused`(_ value: String) async throws {
    let server = try DirectoryServer()
    let response = try await server.put("abc", "Content-Digest: \(value)")
    #expect(response.status == 400, "\(response)")
    #expect(server.names == [])
  }

  /// RFC 9530 §2: "A recipient MAY ignore any or all digests."
  @Test(arguments: [
    sha512, "md5=:AAAA:", "x", "x=1", "x=-1.5", "x=?0", "x=tok/en:1", "x=\"a, \\\"b\"",
    "x=(1 a \"b\");c",
    "", "*a_b-c.d*=:YQ==:",
  ])
  func `other algorithms are ignored`(_ value: String) async throws {
    let server = try DirectoryServer()
    let response = try await server.put("abc", "Content-Digest: \(value)")
    #expect(response.status == 200, "\(response)")
  }

  @Test func `the digest of a form is that of the complete body`() async throws {
    let body =
      "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a\"\r\n\r\nabc\r\n--b--\r\n"
    // Of this body, by openssl.
    let digest = "sha-256=:w97lRHHkLRqhjDe/QYVj+iserS4/Ld4DdcvU7OkmMRk=:"
    for (value, status) in [(digest, 200), (Self.abc, 400)] {
      let server = try DirectoryServer()
      let response = try await server.put(
        body, "Content-Type: multipart/form-data; boundary=b", "Content-Digest: \(value)",
        method: "POST")
      #expect(response.status == status, "\(response)")
      #expect(server.names == (status == 200 ? ["a"] : []))
    }
  }
}
