import Foundation
import Testing
import FormStreamTransfer

/// Which texts are URLs, and how they are parsed.
@Suite struct HTTPURLTests {
  @Test(arguments: [
    ("http://example.org", "http://example.org/", "http://example.org:80"),
    ("https://example.org", "https://example.org/", "https://example.org:443"),
    ("HTTP://EXAMPLE.org/A", "http://EXAMPLE.org/A", "http://example.org:80"),
    ("http://example.org:80/", "http://example.org/", "http://example.org:80"),
    ("http://example.org:8080/a?b=c#d", "http://example.org:8080/a?b=c", "http://example.org:8080"),
    ("http://user:word@example.org/a", "http://example.org/a", "http://example.org:80"),
    ("http://user@example.org/a", "http://example.org/a", "http://example.org:80"),
    ("http://[::1]/a", "http://[::1]/a", "http://[::1]:80"),
    ("http://[::1]:8080/", "http://[::1]:8080/", "http://[::1]:8080"),
    ("http://[2001:DB8::1]/", "http://[2001:DB8::1]/", "http://[2001:db8::1]:80"),
    ("http://127.1/", "http://127.0.0.1/", "http://127.0.0.1:80"),
    ("http://0x7f000001/", "http://127.0.0.1/", "http://127.0.0.1:80"),
    ("http://example.org/a b", "http://example.org/a%20b", "http://example.org:80"),
    ("http://example.org/a%20b%zz", "http://example.org/a%20b%zz", "http://example.org:80"),
    ("http://example.org/a/../b/./c", "http://example.org/b/c", "http://example.org:80"),
    ("http://example.org?a", "http://example.org/?a", "http://example.org:80"),
    ("http://example.org/#a", "http://example.org/", "http://example.org:80"),
    ("http://example.org/?a=ä", "http://example.org/?a=%c3%a4", "http://example.org:80"),
    ("http://ex%41mple.org/", "http://exAmple.org/", "http://example.org:80"),
    // Regression: libcurl was given them as they are, and refused them in most locales.
    (
      "http://bücher.example/ä", "http://xn--bcher-kva.example/%c3%a4",
      "http://xn--bcher-kva.example:80"
    ),
    (
      "https://BÜCHER。example:8443", "https://xn--bcher-kva.example:8443/",
      "https://xn--bcher-kva.example:8443"
    ),
    ("http://b%C3%BCcher.test", "http://xn--bcher-kva.test/", "http://xn--bcher-kva.test:80"),
    ("http://me:p@☃.test/", "http://xn--n3h.test/", "http://xn--n3h.test:80"),
    ("http://straße.de/", "http://xn--strae-oqa.de/", "http://xn--strae-oqa.de:80"),
    (
      "http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/",
      "http://xn--bcher-kva.example:80"
    ),
  ])
  func `URLs are parsed as they are sent`(text: String, written: String, origin: String) throws {
    let url = try HTTPURL(text)
    #expect(url.description == written)
    #expect(url.origin.description == origin)
    // Parsing the result again changes nothing.
    let again = try HTTPURL(written)
    #expect(again.description == written)
    #expect(again.origin == url.origin)
  }

  @Test(arguments: [
    "", " ", "/", "example.org", "example.org/a", "//example.org/", "http:", "http://", "http:///",
    "http://:80/", "http://@/", "http://user@/", "ftp://example.org/", "file:///etc/passwd",
    "ws://example.org/", "javascript:alert(1)", "httpx://example.org/", "http://example.org:0x50/",
    "http://example.org:65536/", "http://example.org:-1/", "http://example.org:port/",
    "http://exa mple.org/", "http://example.org/\n", "http://example.org/\r\nX-A: b",
    "http://example.org/\u{0}", "http://example.org\u{0}.evil.example/", "http://example.org/\u{1}",
    "http://example.org/\u{7F}", "http://example.org/\t", "http://[::1", "http://[::g]/",
    "http://[]/",
    "http://example.org%00/", "http://example.org%0a/", "http://exa%20mple.org/",
    " http://example.org/",
    // A full-width slash, bytes that are not UTF-8, and nothing but a soft hyphen.
    "http://a\u{FF0F}ä.example/", "http://b%FCcher.example/", "http://\u{AD}/",
    "http://user%0Aname:word@example.org/", "http://user:wo%0Drd@example.org/",
    "http://user:wo%00rd@example.org/", "http://user%01@example.org/",
  ])
  func `text that is not a URL of http or https is refused`(text: String) {
    let error = #expect(throws: TransferError.self) { try HTTPURL(text) }
    #expect(error?.code == .invalidURL)
    #expect(error?.description.hasSuffix(".") == true)
  }

  @Test(arguments: [
    "ftp://user:canary@example.org/", "http://user:canary@/", "http://user:canary@exa mple.org/",
    "http://user:canary%00@example.org/", "http://user:canary@example.org:port/",
    "http:///user:canary@example.org:port/", "user:canary@example.org",
    "http://user:canary@example.org/\n", "http:user:canary@example.org:port/",
    "http:/user:canary@example.org:port/", "http://user:can@canary@exa mple.org/",
  ])
  func `an error about a bad URL doesn't show its password`(text: String) {
    let error = #expect(throws: TransferError.self) { try HTTPURL(text) }
    #expect("\(String(describing: error))".contains("canary") == false)
    #expect(error?.subject.contains("canary") == false)
  }

  @Test func `a huge URL is accepted or refused, and shortened in the error`() throws {
    let long = "http://example.org/" + String(repeating: "a", count: 100_000)
    #expect(try HTTPURL(long).description == long)
    let error = #expect(throws: TransferError.self) {
      try HTTPURL("http://example.org/" + String(repeating: "a", count: 9_000_000))
    }
    #expect((error?.description.utf8.count ?? 0) < 1000)
  }

  /// The examples of RFC 3986 §5.4. A fragment is not requested, and a segment such as `g;x` is one like others.
  @Test(arguments: [
    ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"),
    ("g?y", "/b/c/g?y"), ("#s", "/b/c/d;p?q"), ("#", "/b/c/d;p?q"), ("g#s", "/b/c/g"),
    ("g?y#s", "/b/c/g?y"),
    (";x", "/b/c/;x"), ("g;x?y#s", "/b/c/g;x?y"), (".", "/b/c/"), ("./", "/b/c/"), ("..", "/b/"),
    ("../", "/b/"), ("../g", "/b/g"), ("../..", "/"), ("../../", "/"), ("../../g", "/g"),
    ("../../../g", "/g"), ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."), ("..g", "/b/c/..g"),
    ("./../g", "/b/g"), ("./g/.", "/b/c/g/"), ("g/./h", "/b/c/g/h"), ("g/../h", "/b/c/h"),
    ("g;x=1/../y", "/b/c/y"), ("g?y/../x", "/b/c/g?y/../x"), ("g#s/../x", "/b/c/g"),
    ("?y#s", "/b/c/d;p?y"), ("#a/../b?c", "/b/c/d;p?q"),
  ])
  func `references are resolved`(reference: String, target: String) throws {
    let url = try HTTPURL("http://a/b/c/d;p?q")
    #expect(try url.resolving(reference).absoluteString == "http://a" + target)
    #expect(try url.resolving("//g").absoluteString == "http://g/")
    #expect(try url.resolving("//bü/").absoluteString == "http://xn--b-eha/")
    #expect(throws: TransferError.self) { try url.resolving("") }
  }

  /// RFC 6874: one link-local address is another machine in each zone. A redirect between zones took credentials along.
  @Test func `an address in another zone is another origin`() throws {
    let url = try HTTPURL("http://[fe80::1%25eth0]/")
    #expect(url.origin.description == "http://[fe80::1%25eth0]:80")
    #expect(try url.resolving("/x").origin == url.origin)
    #expect(try url.resolving("http://[fe80::1%25eth1]/").origin != url.origin)
    #expect(try HTTPURL("http://[fe80::1]/").origin != url.origin)
    #expect(try HTTPURL("http://[fe80::1]/").origin.description == "http://[fe80::1]:80")
  }

  @Test func `a Foundation URL is converted unchanged`() throws {
    let url = try #require(URL(string: "https://example.org/a?b=c"))
    #expect(try HTTPURL(url) == HTTPURL("https://example.org/a?b=c"))
    #expect(throws: TransferError.self) { try HTTPURL(URL(fileURLWithPath: "/etc")) }
  }
}
