import FormStreamMultipart
import FormStreamDigest
import FormStreamTestSupport
import Testing

@testable import FormStreamHTTP

/// How challenges are read, and how Digest answers them.
@Suite struct DigestTests {
  private static let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
  private static let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
  private static let opaque = "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"

  private func challenges(_ values: String...) -> [OfferedScheme] {
    OfferedScheme.all(in: HTTPHeaders(values.map { ("WWW-Authenticate", $0) }))
  }

  private func answer(_ parameters: String) throws -> String {
    let offer = "Digest realm=\"http-auth@example.org\", nonce=\"\(Self.nonce)\", \(parameters)"
    return try #require(DigestChallenge.strongest(of: challenges(offer))).authorization(
      user: "Mufasa", password: "Circle of Life", method: "GET", target: "/dir/index.html",
      count: 1, clientNonce: Self.clientNonce)
  }

  /// RFC 7616 §3.9.1.
  @Test func `the examples of RFC 7616`() throws {
    let fields = "qop=\"auth, auth-int\", opaque=\"\(Self.opaque)\""
    for (algorithm, response) in [
      ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
      ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
      // Computed with Python's hashlib.
      ("SHA-512-256", "430d05014cecc49cab6fbe03176d41a1da86cbfe24a16580e22aaad928d960d0"),
    ] {
      #expect(
        try answer("\(fields), algorithm=\(algorithm)")
          == "Digest username=\"Mufasa\", realm=\"http-auth@example.org\", nonce=\"\(Self.nonce)\", "
          + "uri=\"/dir/index.html\", algorithm=\(algorithm), qop=auth, nc=00000001, "
          + "cnonce=\"\(Self.clientNonce)\", response=\"\(response)\", opaque=\"\(Self.opaque)\"")
    }
  }

  /// Computed with Python's hashlib. The RFC has no examples of these.
  @Test(arguments: [
    ("qop=auth, algorithm=MD5-sess", "e783283f46242139c486a698fec7211d"),
    (
      "qop=auth, algorithm=sha-256-SESS",
      "2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3efd7"
    ),
    ("stale=FALSE", "7b2cc3b30e75b4777ea31027084363fd"),
    ("algorithm=SHA-256", "a1306b0595a6c7fe96c448631fb5cfbd5107bd1fe1da729d978dd7446b812363"),
    (
      "qop=auth, algorithm=sha-512-256-sess",
      "3f2a34f923c38b0fb26dce2fdfc2ce326c23cecf86fbb1444f3e51fbbc2cb92e"
    ),
    ("algorithm=SHA-512-256", "93e9122020ea0624d2ca801426d5bfbeb93d10ff4cc24cb410af3920fa4730e7"),
    ("qop=auth, userhash=true", "8ca523f5e9506fed4657c9700eebdbec"),
  ])
  func `other algorithms`(parameters: String, response: String) throws {
    let header = try answer(parameters)
    #expect(header.contains(" response=\"\(response)\""), "\(header)")
    let hashesUser = parameters.contains("userhash")
    #expect(
      header.contains("username=\"\(hashesUser ? "4238f3a16167373febb9bc4d43db9cc4" : "Mufasa")\""))
    #expect(header.contains("userhash=true") == hashesUser)
    #expect(header.contains("nc=") == parameters.contains("qop"))
  }

  /// The user, realm and password of RFC 7616 §3.9.2, computed with Python's hashlib: the RFC's own figures for
  /// SHA-512-256 are wrong (erratum 4897).
  @Test(arguments: [
    (
      "SHA-256", "5a1a8a47df5c298551b9b42ba9b05835174a5bd7d511ff7fe9191d8e946fc4e7",
      "06d0c14162099f487a92ebceaf71097534ee5f90d858386449c337ab69f7f6b8"
    ),
    (
      "SHA-512-256", "793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b",
      "7a4e1192babbba02e91182d2895bfdbf7adafc6e48d4e517ca301974843d840c"
    ),
  ])
  func `characters beyond ASCII are hashed as UTF-8`(
    _ algorithm: String, _ user: String, _ response: String
  ) throws {
    let offer = """
      Digest realm="api@example.org", qop="auth", algorithm=\(algorithm), charset=UTF-8, userhash=true, \
      nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK"
      """
    let header = try #require(DigestChallenge.strongest(of: challenges(offer))).authorization(
      user: "Jäsøn Doe", password: "Secret, or not?", method: "GET", target: "/doe.json", count: 1,
      clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm")
    #expect(header.contains("username=\"\(user)\""), "\(header)")
    #expect(header.contains("response=\"\(response)\""), "\(header)")
  }

  @Test
  func `quotes and backslashes are escaped where they are written, and not where they are hashed`()
    throws
  {
    let offer = #"Digest realm="a \"b\" \\ c", nonce="n\"1", qop="auth""#
    let challenge = try #require(DigestChallenge.strongest(of: challenges(offer)))
    #expect(challenge.realm == #"a "b" \ c"#)
    let header = try challenge.authorization(
      user: #"m"e"#, password: "p", method: "GET", target: "/", count: 0x10, clientNonce: "c")
    #expect(header.hasPrefix(#"Digest username="m\"e", realm="a \"b\" \\ c", nonce="n\"1","#))
    #expect(header.contains("nc=00000010"))
  }

  @Test(arguments: [
    ("", []), (",", []), ("Basic", ["Basic:"]), ("Basic realm=\"a\"", ["Basic:realm=a"]),
    ("basic realm=a", ["basic:realm=a"]), ("Basic realm = \"a, b\"", ["Basic:realm=a, b"]),
    (
      "Newauth realm=\"apps\", type=1, title=\"Login to \\\"apps\\\"\", Basic realm=\"simple\"",
      ["Newauth:realm=apps,title=Login to \"apps\",type=1", "Basic:realm=simple"]
    ),
    ("Negotiate abc/+==, Basic realm=x", ["Negotiate:", "Basic:realm=x"]),
    // As in curl, the last one is meant.
    ("Negotiate, , Basic REALM=x,realm=y", ["Negotiate:", "Basic:realm=y"]),
    ("Digest nonce=1, nonce=2", ["Digest:nonce=2"]),
    ("Basic realm=\"open", ["Basic:", "realm:"]),
    ("Basic realm=\"a\" \u{1}, Digest", ["Basic:realm=a"]),
    ("Bearer error=\"invalid_token\"", ["Bearer:error=invalid_token"]),
  ])
  func `challenges are read as RFC 9110 says`(value: String, expected: [String]) {
    let found = challenges(value).map { offer in
      offer.scheme + ":"
        + offer.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        .joined(separator: ",")
    }
    #expect(found == expected)
  }

  @Test func `the strongest challenge is answered, and none that can't be`() {
    let rest = "realm=a, nonce=n, qop=auth"
    func algorithm(_ values: String...) -> String? {
      let offers = OfferedScheme.all(in: HTTPHeaders(values.map { ("WWW-Authenticate", $0) }))
      return DigestChallenge.strongest(of: offers).map { "\($0)" }
    }
    #expect(
      algorithm("Digest \(rest), algorithm=MD5", "Digest \(rest), algorithm=SHA-256")?
        .contains("sha256") == true)
    #expect(
      algorithm("Digest \(rest), algorithm=SHA-256", "Digest \(rest), algorithm=SHA-512-256")?
        .contains("sha512") == true)
    #expect(algorithm("Digest \(rest), algorithm=SHA-512", "Basic realm=a") == nil)
    #expect(algorithm("Digest nonce=\"\u{7}\", \(rest)") == nil)
    #expect(algorithm("Digest realm=a, nonce=n, qop=auth-int") == nil)
    #expect(algorithm("Digest realm=a, qop=auth") == nil)
    #expect(algorithm("Digest nonce=n, qop=auth") == nil)
  }
}
