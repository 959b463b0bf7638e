import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// What is answered where all is well.
@Suite struct RecordTests {
  private static func post(
    _ body: String, type: String?, line: String = "POST /a", more: String = ""
  ) -> String {
    "\(line) HTTP/1.1\r\nHost: h\r\n\(type.map { "Content-Type: \($0)\r\n" } ?? "")\(more)"
      + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
  }

  @Test func `a form is answered with its record`() async throws {
    let stand = try Stand()
    let body =
      "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nhi\r\n"
      + "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x.txt\"\r\nContent-Type: text/plain\r\n\r\nabc\r\n"
      + "--b--\r\n"
    let answer = try await stand.answer(
      to: Self.post(body, type: "multipart/form-data; boundary=b"))
    #expect(
      answer.text == """
        {"schema":"formstream.received/1","body_bytes":\(body.utf8.count),"complete":true,"parts":[\
        {"index":0,"name":"a","filename":null,"content_type":null,\
        "headers":[["Content-Disposition","form-data; name=\\"a\\""]],"size":2,\
        "sha256":"8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4",\
        "value":"hi","value_b64":null,"stored_as":null},\
        {"index":1,"name":"f","filename":"x.txt","content_type":"text/plain",\
        "headers":[["Content-Disposition","form-data; name=\\"f\\"; filename=\\"x.txt\\""],["Content-Type","text/plain"]],\
        "size":3,"sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",\
        "value":null,"value_b64":null,"stored_as":null}],\
        "error":null,"framing":"content-length","content_length":\(body.utf8.count)}

        """)
    #expect(answer.status == 200)
    #expect(answer.headers("Content-Type") == ["application/json"])
    #expect(answer.headers("X-Content-Type-Options") == ["nosniff"])
    #expect(answer.headers("Cache-Control") == ["no-store"])
    #expect(answer.headers("Transfer-Encoding") == [])
    let told = try #require(try await stand.told(1).first)
    #expect(told.json == answer.text)
    #expect(told.method == "POST")
    #expect(told.peer.hasPrefix("127.0.0.1:"))
  }

  @Test func `without digests there are none`() async throws {
    let stand = try Stand { $0.makesDigests = false }
    let answer = try await stand.answer(to: Self.post("abc", type: nil))
    #expect(answer.text.contains("\"sha256\":null"))
  }

  @Test func `short fields are in the record, long ones are the handler's`() async throws {
    let stand = try Stand {
      $0.limits.textField = 4
      $0.limits.allTextFields = 6
    }
    let answer = try await stand.answer(
      to: Self.post("a=1234&b=12345&c=12&d=1&e=&f=%FF", type: "application/x-www-form-urlencoded"))
    #expect(answer.status == 200)
    let parts = try #require(try await stand.told(1).first).parts
    #expect(parts.map(\.name) == ["a", "b", "c", "d", "e", "f"])
    #expect(parts.map(\.size) == [4, 5, 2, 1, 0, 1])
    let values: [String?] = ["1234", nil, "12", nil, "", nil]
    #expect(parts.map { $0.value.map { String(decoding: $0, as: UTF8.self) } } == values)
    #expect(stand.handler.kept.map(\.name) == ["b", "d", "f"])
    #expect(stand.handler.kept.map(\.bytes) == [Array("12345".utf8), [0x31], [0xFF]])
  }

  @Test func `a value that is no text is in the record in Base64`() async throws {
    let stand = try Stand()
    let answer = try await stand.answer(
      to: Self.post("f=%FF", type: "application/x-www-form-urlencoded"))
    #expect(answer.text.contains("\"value\":null,\"value_b64\":\"/w==\""))
  }

  @Test(
    arguments: [
      ("/a.txt", "a.txt"), ("/d/a.txt?x=y", "d/a.txt"), ("/%41%2Fb", "A/b"),
      ("/..%2F..%2Fetc", "../../etc"),
      ("/a%00b", "a\u{0}b"), ("/%C3%A9", "\u{E9}"), ("/%FF", "\u{FFFD}"), ("/%4", "%4"),
      ("/%zz%", "%zz%"),
      ("//a", "a"), ("/", nil), ("/?x", nil), ("http://h/a/b", "a/b"), ("http://h", nil),
      ("/a+b", "a+b"),
      ("/a;b=c", "a;b=c"), ("/http://x/y", "http://x/y"), ("/a?http://x/y", "a"),
    ] as [(String, String?)])
  func `what is put is named by its path`(_ target: String, _ name: String?) async throws {
    let stand = try Stand()
    let answer = try await stand.answer(
      to: Self.post("abc", type: "text/x", line: "PUT \(target)"))
    #expect(answer.status == 200)
    let part = try #require(try await stand.told(1).first?.parts.first)
    #expect(part.filename == name)
    #expect(part.name == nil)
    #expect(part.contentType == "text/x")
    #expect(stand.handler.kept.map(\.filename) == [name])
    #expect(stand.handler.targets == [target])
  }

  @Test func `what is posted raw has no name`() async throws {
    let stand = try Stand()
    _ = try await stand.answer(to: Self.post("abc", type: nil, line: "POST /x.txt"))
    #expect(stand.handler.kept == [.init(name: nil, filename: nil, bytes: Array("abc".utf8))])
  }

  @Test(arguments: [nil, "text/plain", "application/x-www-form-urlencoded"])
  func `empty bodies`(_ type: String?) async throws {
    for framing in ["Content-Length: 0\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"] {
      let stand = try Stand()
      let answers = try await stand.answers(
        to: "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
          + (type.map { "Content-Type: \($0)\r\n" } ?? "") + framing)
      #expect(answers.map(\.status) == [200])
      let told = try #require(try await stand.told(1).first)
      #expect(told.isComplete)
      #expect(told.bodyBytes == 0)
      #expect(told.parts.count == (type?.hasPrefix("application") == true ? 0 : 1))
    }
  }

  @Test func `the page`() async throws {
    let stand = try Stand()
    let get = try await stand.answer(to: "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    #expect(get.status == 200)
    #expect(get.text.hasPrefix("<!DOCTYPE html>") || get.text.hasPrefix("<!doctype html>"))
    #expect(get.headers("Content-Security-Policy").first?.contains("default-src 'none'") == true)
    #expect(get.headers("X-Content-Type-Options") == ["nosniff"])
    #expect(get.headers("Referrer-Policy") == ["same-origin"])
    let heads = try await onNewThread {
      let client = try stand.client()
      try client.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n")
      let head = try client.answer(toHead: true)
      try client.send("HEAD /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
      let other = try client.answer(toHead: true)
      var rest: [UInt8] = []
      #expect(try !client.receiveMore(into: &rest), "no body behind")
      return [head, other]
    }
    #expect(heads.map(\.status) == [200, 404])
    #expect(heads.first?.headers("Content-Length") == ["\(get.body.count)"])
    let without = try Stand { $0.servesPage = false }
    #expect(try await without.answer(to: "GET / HTTP/1.0\r\n\r\n").status == 404)
    #expect(stand.told.map(\.method) == ["HEAD"], "only refusals are told of")
  }

  @Test func `a browser gets the result as a page`() async throws {
    let stand = try Stand()
    let answer = try await stand.answer(
      to: Self.post(
        "--b\r\nContent-Disposition: form-data; name=\"a\"; filename=\"<b>&'\u{202E}\"\r\n\r\n"
          + "x\r\n--b--", type: "multipart/form-data; boundary=b",
        more: "Accept: application/xml\r\nAccept: text/html,*/*\r\n"))
    #expect(answer.status == 200)
    #expect(answer.headers("Content-Type") == ["text/html; charset=utf-8"])
    #expect(answer.text.contains("&lt;b&gt;&amp;&#39;\\u{202E}"))
    #expect(!answer.text.contains("<b>"))
    #expect(answer.headers("Content-Security-Policy").count == 1)
    let bad = try await stand.answer(
      to: Self.post(
        "<script>", type: "multipart/form-data; boundary=b", more: "Accept: text/html\r\n"))
    #expect(bad.status == 400)
    #expect(bad.headers("Content-Type") == ["text/html; charset=utf-8"])
    #expect(!bad.text.contains("<script>"))
  }
}
