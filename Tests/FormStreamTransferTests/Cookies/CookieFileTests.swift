import FormStreamTestSupport
import FormStreamTransfer
import Testing

@testable import FormStreamHTTP

/// Files of cookies, line by line.
@Suite struct CookieFileTests {
  /// The lines of a session that has read a file.
  private func lines(
    _ text: String, withoutSessionCookies: Bool = false, host: String? = nil
  ) throws -> [String] {
    let place = try TemporaryDirectory()
    try place.write("in", text)
    var configuration = TransferSession.Configuration()
    configuration.cookies = .session(
      files: [place.local("in")], withoutSessionCookies: withoutSessionCookies, host: host)
    let text = String(decoding: try TransferSession(configuration).cookieText(), as: UTF8.self)
    #expect(text.hasPrefix("# Netscape HTTP Cookie File\n\n") || text == "# Netscape HTTP Cookie File\n\n")
    return text.split(separator: "\n").dropFirst().map(String.init)
  }

  @Test(
    arguments: [
      ("a.example\tFALSE\t/x/\tFALSE\t0\tn\tv", "a.example\tFALSE\t/x/\tFALSE\t0\tn\tv"),
      ("A.Example\ttrue\t\"/x\"\ttrue\t0\tn\tv", ".a.example\tTRUE\t\"/x\"\tTRUE\t0\tn\tv"),
      ("#HttpOnly_.a.example\tTRUE\t/\tTRUE\t9999999999\tn\tv", "#HttpOnly_.a.example\tTRUE\t/\tTRUE\t9999999999\tn\tv"),
      (".a.example\tFALSE\tx\tFALSE\t0\tn\t", "a.example\tFALSE\t/\tFALSE\t0\tn\t"),
      ("a.example\tFALSE\t\tFALSE\t0\tn\tv", "a.example\tFALSE\t/\tFALSE\t0\tn\tv"),
      ("a.example\tFALSE\tFALSE\t0\tn\tv\t", "a.example\tFALSE\t/\tFALSE\t0\tn\tv"),
      ("a.example\tFALSE\t/\tFALSE\t0\tn", "a.example\tFALSE\t/\tFALSE\t0\tn\t"),
      ("a.example\t\tFALSE\t/\tFALSE\t0\tn\tv", "a.example\tFALSE\t/\tFALSE\t0\tn\tv"),
      ("a.example\tFALSE\t/\tFALSE\t\t\tv", "a.example\tFALSE\t/\tFALSE\t0\t\tv"),
      ("a.example\tFALSE\t/\tFALSE\t9999999999.5\tn\tv", "a.example\tFALSE\t/\tFALSE\t9999999999\tn\tv"),
      ("set-cookie: n=v; Domain=.A.example; HttpOnly", "#HttpOnly_.a.example\tTRUE\t/\tFALSE\t0\tn\tv"),
      (".com\tTRUE\t/\tFALSE\t0\tn\tv", "com\tFALSE\t/\tFALSE\t0\tn\tv"),
      ("co.uk.\tTRUE\t/\tFALSE\t0\tn\tv", "co.uk.\tFALSE\t/\tFALSE\t0\tn\tv"),
      ("::1\tTRUE\t/\tFALSE\t0\tn\tv", "::1\tFALSE\t/\tFALSE\t0\tn\tv"),
      ("Set-Cookie: n=v; domain=127.0.0.1; Secure", "127.0.0.1\tFALSE\t/\tTRUE\t0\tn\tv"),
    ])
  func `a line is read, and written in the same form as others`(line: String, written: String) throws {
    #expect(try lines("\(line)\n") == [written])
  }

  @Test(
    arguments: [
      "a.example\tFALSE\t/\tFALSE\tnever\tn\tv", "a.example\tFALSE\t/\tFALSE\t-1\tn\tv",
      "a.example\tFALSE\t/\tFALSE\t99999999999999999999\tn\tv", "a.example\tFALSE\t/\tFALSE\t1\tn\tv",
      "a.example\tFALSE\t/\tFALSE\t0\tn\tv\tw", "\tFALSE\t/\tFALSE\t0\tn\tv", "a.example\tFALSE\t/\tFALSE\t0\t\t",
      "a.example\tFALSE\t/\tFALSE\t0\t__Secure-n\tv", "a.example\tTRUE\t/\tTRUE\t0\t__Host-n\tv",
      "Set-Cookie: n=v; Domain=a.example; Max-Age=0",
      "Set-Cookie: n=v; Domain=com", "Set-Cookie: n=v; Domain=.co.uk", "Set-Cookie: n=v; Domain=localhost",
      "Set-Cookie: =n=v; Domain=a.example", "a.example\tFALSE\t/\tFALSE\t0\t\tn=v", "# a.example\tFALSE\t/\tFALSE\t0\tn\tv",
    ])
  func `a line without a usable cookie is left out`(line: String) throws {
    #expect(try lines("\(line)\n") == [])
  }

  /// Nothing was sent, and the file that was read and written lost its cookies.
  @Test func `a line without Domain is for the host of the file, and is saved even if nothing is sent`() throws {
    let text = "Set-Cookie: n=v; Secure\nSet-Cookie: m=w; Path=/x\nSet-Cookie: l=u; Domain=a.localhost\n"
    for (host, name) in [("A.localhost:81", "a.localhost"), ("[::1]:8", "::1"), ("::1", "::1")] {
      let written = ["\(name)\tFALSE\t/\tTRUE\t0\tn\tv", "\(name)\tFALSE\t/x\tFALSE\t0\tm\tw"]
      #expect(try lines(text, host: host) == written + [".a.localhost\tTRUE\t/\tFALSE\t0\tl\tu"])
    }
    #expect(
      try lines("Set-Cookie: n=v; Domain=localhost\n", host: "localhost") == ["localhost\tFALSE\t/\tFALSE\t0\tn\tv"])
  }

  @Test(arguments: [nil, "", ":80"])
  func `a line without Domain is an error if the file has no host`(host: String?) throws {
    let error = #expect(throws: TransferError.self) {
      try lines("Set-Cookie: n=v; Domain=a.example\nSet-Cookie: canary=1\n", host: host)
    }
    #expect(error?.code == .cookiesUnusable)
    let text = error?.description ?? ""
    #expect(text.contains("Line 2") && text.contains("Domain=HOST") && !text.contains("canary"), "\(text)")
  }

  @Test func `of several lines for a cookie the last counts, and the order stays`() throws {
    let line = "a.example\tFALSE\t/\tFALSE\t"
    #expect(
      try lines("\(line)0\tn\t1\n\(line)0\tm\t1\n\(line)0\tn\t2\n") == ["\(line)0\tn\t2", "\(line)0\tm\t1"])
    #expect(
      try lines("\(line)0\tn\t1\n\(line)9999999999\tm\t1\n", withoutSessionCookies: true)
        == ["\(line)9999999999\tm\t1"])
  }

  @Test func `a control character in a file is an error that names the line`() throws {
    let error = #expect(throws: TransferError.self) {
      try lines("# first\na.example\tFALSE\t/\tFALSE\t0\tn\tcan\rary\n")
    }
    #expect(error?.code == .cookiesUnusable)
    let text = error?.description ?? ""
    #expect(text.contains("Line 2") && text.contains("control character") && !text.contains("can"), "\(text)")
  }
}
