import FormStreamTestSupport
import Testing

@testable import FormStreamHTTP

/// What the tables of docs/urls.md don't show.
@Suite struct URLPartsTests {
  @Test func `a URL has its parts`() throws {
    let url = try URLParts(parsing: "https://u%40v:p:w@H.Example:08443/a/b?c=d#e?f")
    #expect(url.scheme == .https && url.userInfo == "u%40v:p:w")
    #expect(url.user == "u@v" && url.password == "p:w")
    #expect(url.host.text == "H.Example" && url.host.zone == nil)
    #expect(url.port == 8443 && url.effectivePort == 8443)
    #expect(url.path == "/a/b" && url.query == "c=d" && url.fragment == "e?f")
    #expect(url.requestTarget == "/a/b?c=d" && url.hostField == "H.Example:8443")
    #expect(url.absoluteString == "https://H.Example:8443/a/b?c=d")
    #expect(url.completeString == "https://u%40v:p:w@H.Example:8443/a/b?c=d#e?f")
  }

  @Test func `parts that are not there are nil, and empty ones are empty`() throws {
    let bare = try URLParts(parsing: "http://h")
    #expect(bare.userInfo == nil && bare.user == nil && bare.password == nil)
    #expect(bare.port == nil && bare.effectivePort == 80 && bare.query == nil && bare.fragment == nil)
    #expect(bare.path == "/")
    let empty = try URLParts(parsing: "https://:@h:?#")
    #expect(empty.user?.isEmpty == true && empty.password?.isEmpty == true)
    #expect(empty.port == nil && empty.effectivePort == 443)
    #expect(empty.query?.isEmpty == true && empty.fragment == nil)
    #expect(empty.requestTarget == "/?" && empty.completeString == "https://:@h/?")
  }

  @Test func `a default port is that of the scheme`() throws {
    #expect(try URLParts(parsing: "http://h:443/").hostField == "h:443")
    #expect(try URLParts(parsing: "https://h:80/").hostField == "h:80")
    #expect(try URLParts(parsing: "https://h:443/").absoluteString == "https://h/")
  }

  @Test func `a zone stands in the URL and in no header`() throws {
    let url = try URLParts(parsing: "http://[fe80:0:0:0:0:0:0:1%25eth0]:8080/")
    #expect(url.host.zone == "eth0" && url.hostField == "[fe80::1]:8080")
    #expect(url.absoluteString == "http://[fe80::1%25eth0]:8080/")
    #expect(try URLParts(parsing: url.absoluteString) == url)
  }

  @Test(arguments: [
    ("./g", "/a/../b/g"), ("../g", "/a/../g"), ("../../g", "/a/g"), ("../../../../g", "/g"), ("g/../h", "/a/../b/g/../h"),
    ("././g", "/a/../b/./g"), ("/x/../g", "/x/../g"), ("?y", "/a/../b/c?y"), ("#y", "/a/../b/c"),
  ])
  func `dots stay in a path that is kept, but not at the beginning of a reference`(
    _ reference: String, _ target: String
  ) throws {
    let base = try URLParts(parsing: "http://h/a/../b/c", keepsPath: true)
    #expect(base.path == "/a/../b/c")
    #expect(try base.resolving(reference, keepsPath: true).requestTarget == target)
    let url = try HTTPURL(withPathAsIs: "http://h/a/../b/c").resolving(reference)
    #expect(url.absoluteString == "http://h\(target)")
  }

  /// RFC 3986 §5.2.4, at every length around the ends.
  @Test(arguments: [
    ("/.", "/"), ("/..", "/"), ("/./", "/"), ("/../", "/"), ("/a/.", "/a/"), ("/a/..", "/"), ("/a/./", "/a/"), ("/a/../", "/"),
    ("/a/b/..", "/a/"), ("/a/b/../..", "/"), ("/a//..", "/a/"), ("/a//../b", "/a/b"), ("//..", "/"), ("/..//a", "//a"),
    ("/.../a", "/.../a"), ("/.a/..b", "/.a/..b"), ("/a./b..", "/a./b.."), ("/", "/"), ("//", "//"),
  ])
  func `dot segments are removed`(_ path: String, _ result: String) throws {
    #expect(try URLParts(parsing: "http://h\(path)").path == result)
    #expect(try URLParts(parsing: "http://h\(path)", keepsPath: true).path == path)
  }

  /// libcurl 7.88 lost the second slash of the base, and took a reference that is only a fragment for a path.
  @Test func `references at odd bases are resolved as the RFC says`() throws {
    #expect(try URLParts(parsing: "http://h//x").resolving("g").requestTarget == "//g")
    #expect(try URLParts(parsing: "http://h//x").resolving("./../g").requestTarget == "/g")
    #expect(try URLParts(parsing: "http://h/b?").resolving("#s").requestTarget == "/b?")
    #expect(try HTTPURL("http://h/b?").resolving("#s").absoluteString == "http://h/b?")
    #expect(try URLParts(parsing: "http://h/b?q").resolving("g").requestTarget == "/g")
    #expect(try URLParts(parsing: "http://h/b?q").resolving("?").requestTarget == "/b?")
  }

  @Test func `a reference has no user of its base, and its own is read`() throws {
    let base = try URLParts(parsing: "http://u:p@h:8080/a")
    let path = try base.resolving("/b")
    #expect(path.user == nil && path.userInfo == nil && path.hostField == "h:8080")
    let other = try base.resolving("//v:w@g/b")
    #expect(other.user == "v" && other.password == "w" && other.hostField == "g")
    #expect(try HTTPURL("http://h/a").completeText(resolving: "//v:w@g/b#c") == "http://v:w@g/b#c")
    #expect(try HTTPURL("http://h/a").completeText(resolving: "http://v w/") == nil)
  }

  @Test func `a text is appended to a query after an ampersand`() throws {
    let url = try URLParts(parsing: "http://h/a")
    #expect(try url.appending(query: "b").requestTarget == "/a?b")
    #expect(try url.appending(query: "b").appending(query: "c").requestTarget == "/a?b&c")
    #expect(try URLParts(parsing: "http://h/a?").appending(query: "b").requestTarget == "/a?b")
    // The question mark at the end belongs to the query.
    #expect(try URLParts(parsing: "http://h/a?b?").appending(query: "c").requestTarget == "/a?b?&c")
  }

  @Test func `a URL has at most 8,000,000 bytes, after its encoding`() throws {
    let most = String(repeating: "a", count: URLParts.maximumLength - 9)
    #expect(try URLParts(parsing: "http://h/\(most)").path.utf8.count == most.utf8.count + 1)
    #expect(throws: URLFlaw.tooLong) { try URLParts(parsing: "http://h/\(most)a") }
    let spaces = String(repeating: " ", count: URLParts.maximumLength / 3)
    #expect(throws: URLFlaw.tooLong) { try URLParts(parsing: "http://h/\(spaces)aa") }
    #expect(throws: URLFlaw.tooLong) { try URLParts(parsing: "http://h/").resolving("a\(spaces)a") }
    #expect(throws: URLFlaw.tooLong) { try URLParts(parsing: "http://h/\(most)").appending(query: "12345678") }
  }

  @Test(arguments: [
    ("localhost:8080/a", URLFlaw.noScheme), ("user:canary@h", .noScheme), ("htp://h/", .scheme("htp")),
    ("http:h", .slashes), ("http:////h", .slashes), ("http:\\\\h", .backslash), ("http://h\\a", .backslash),
    ("http://a@b@h/", .severalAts), ("http://", .noHost), ("http://:80/", .noHost), ("http://h:0/", .port),
    ("http://h:65536/", .port), ("http://h:+1/", .port), ("http://h|/", .hostCharacter), ("http://1.2.3.4./", .hostNumber),
    ("http://[::1", .ipv6), ("http://[1.2.3.4]/", .ipv6), ("http://[fe80::1%25a:b]/", .zone), ("http://[fe80::1%]/", .zone),
    ("http://b\u{FF0F}ä/", .hostNotEncodable("b\u{FF0F}ä")), ("http://u:%0D@h/", .credentialCharacter("h")),
    ("http://u:%09@h/", .credentialCharacter("h")), ("http://%E4@h/", .credentialEncoding("h")), (" http://h/", .spaceAtStart),
    ("http://h/\u{0}", .controlCharacter), ("http://h/#\n", .controlCharacter),
  ])
  func `each flaw has its error`(_ text: String, _ flaw: URLFlaw) {
    #expect(throws: flaw) { try URLParts(parsing: text) }
    let sentence = flaw.sentence(about: "SUBJECT")
    #expect(sentence.hasSuffix("."))
    let error = #expect(throws: TransferError.self) { try HTTPURL(text) }
    #expect(error?.description.contains("canary") == false)
  }
}
