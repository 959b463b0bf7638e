import FormStreamDigest
import FormStreamPlatform
import FormStreamMultipart
import Testing

@testable import FormStreamReceiver

@Suite struct UploadPageTests {
  private let digest = String(repeating: "ab", count: 32)

  @Test func `the policy allows only the page's own style and script`()
    throws
  {
    var hashes: [String] = []
    for tag in ["style", "script"] {
      let page = UploadPage.html(for: Receiver.Configuration())
      let opened = try #require(page.firstRange(of: "<\(tag)>"))
      let closed = try #require(page.firstRange(of: "</\(tag)>"))
      var hash = try SHA256()
      let text = Array(page[opened.upperBound..<closed.lowerBound].utf8)
      try text.withUnsafeBytes { try hash.update($0) }
      hashes.append(base64(try hash.finalize().bytes))
    }
    #expect(
      UploadPage.contentSecurityPolicy
        == "default-src 'none'; style-src 'sha256-\(hashes[0])'; script-src 'sha256-\(hashes[1])'; "
        + "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
  }

  @Test func `the page says whose machine it is, as text`() {
    var configuration = Receiver.Configuration()
    #expect(!UploadPage.html(for: configuration).contains("They go to"))
    configuration.page.owner = "a<b> on \u{202E}c"
    #expect(
      UploadPage.html(for: configuration).contains(
        "<h1>Send files</h1>\n<p id=\"owner\">They go to <b><bdi>a&lt;b&gt; on \\u{202E}c</bdi></b>.</p>\n"
      ))
  }

  @Test func `the page names the limits, and has the lowest for its script`() {
    var configuration = Receiver.Configuration()
    let none = UploadPage.html(for: configuration)
    #expect(none.contains("<p id=\"limits\">Files may have any size.</p>"))
    #expect(!none.contains("data-limit"))
    configuration.limits.body = 1_234_567
    let body = UploadPage.html(for: configuration)
    #expect(
      body.contains(
        "<p id=\"limits\">At most 1,234,567 bytes are accepted for <span id=\"each\">all files together</span>, names included.</p>"
      ))
    #expect(
      body.contains(
        "<form method=\"post\" action=\"/\" enctype=\"multipart/form-data\" data-limit=\"1234567\">"
      ))
    configuration.limits.form.partBytes = 1
    let part = UploadPage.html(for: configuration)
    #expect(part.contains("<p id=\"limits\">A file may have at most 1 byte. At most 1,234,567"))
    #expect(part.contains("data-limit=\"1\""))
  }

  @Test func `the page tells its script from which size on an upload is resumable`() {
    var configuration = Receiver.Configuration()
    #expect(!UploadPage.html(for: configuration).contains("data-resumable="))
    configuration.resumableUploads = Receiver.ResumableUploads(in: "d")
    #expect(UploadPage.html(for: configuration).contains("data-resumable=\"1048576\">"))
    // An empty file has no pieces.
    configuration.resumableUploads?.minimumSize = 0
    #expect(UploadPage.html(for: configuration).contains("data-resumable=\"1\">"))
  }

  @Test func `folders can be chosen only if that is configured`() {
    var configuration = Receiver.Configuration()
    #expect(!UploadPage.html(for: configuration).contains(" webkitdirectory "))
    configuration.page.takesDirectories = true
    #expect(UploadPage.html(for: configuration).contains(" webkitdirectory "))
  }

  @Test func `names from clients are only text in the response page`() {
    let page = UploadPage.response(
      parts: [
        .init(
          index: 0, name: "file", filename: "<b onclick='x'>&\"\u{202E}\u{0}", size: 1_234_567,
          sha256: SHA256Digest(digest), storedAs: "_b_.txt"),
        .init(index: 1, name: "a&b", size: 3, value: Array("<i>".utf8)),
        .init(index: 2, name: "file", filename: "", size: 1),
      ], failure: nil)
    #expect(page.contains("<h1>Upload complete</h1>"))
    #expect(
      page.contains(
        "<li class=\"arrived\"><p><bdi>&lt;b onclick=&#39;x&#39;&gt;&amp;&quot;\\u{202E}\\u{0}</bdi></p>"
          + "<p>Stored as <bdi>_b_.txt</bdi>, 1,234,567 bytes</p><code>SHA-256 abab"))
    #expect(page.contains("<li><p><bdi>a&amp;b</bdi></p><p><bdi>&lt;i&gt;</bdi>, 3 bytes</p></li>"))
    #expect(page.contains("<li><p><bdi>file</bdi></p><p>1 byte, not stored</p></li>"))
  }

  @Test func `the page of a failure says that nothing was stored, and why`() {
    let page = UploadPage.response(
      parts: [.init(index: 0, name: "file", filename: "a", size: 12)],
      failure: ReceivedForm.Failure(code: "body-incomplete", message: "It ends at \"<\"."))
    #expect(
      page.contains(
        "<h1>Nothing was stored</h1>\n<p class=\"bad\">It ends at &quot;&lt;&quot;.</p>"))
    #expect(page.contains("<p>12 bytes, not stored</p>"))
  }

  @Test func `the page says if no file was chosen`() {
    let none = ReceivedPart(
      index: 0, name: "file", filename: "", size: 0, sha256: SHA256Digest(digest))
    let page = UploadPage.response(parts: [none], failure: nil)
    #expect(page.contains("<h1>No file was chosen</h1>\n<p><a href=\"/\">Send files</a></p>"))
    let other = UploadPage.response(
      parts: [none, .init(index: 1, name: "a", size: 1, value: [0x78])], failure: nil)
    #expect(other.contains("<h1>Upload complete</h1>"))
    #expect(other.contains("<bdi>file</bdi></p><p>No file was chosen</p>"))
  }

  @Test func `a long value is truncated on the page`() {
    let page = UploadPage.response(
      parts: [.init(index: 0, name: "v", size: 201, value: Array(repeating: 0x78, count: 201))],
      failure: nil)
    #expect(page.contains("<bdi>\(String(repeating: "x", count: 200)) …</bdi>, 201 bytes"))
  }
}
