import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Testing

/// The responses to requests that are accepted.
@Suite struct RecordTests {
  private static func post(
    _ body: String, type: String?, line: String = "POST /a", more: String = ""
  ) -> String {
    "\(line) HTTP/1.1\r\nHost: h\r\n\(type.map { "Content-Type: \($0)\r\n" } ?? "")\(more)"
      + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
  }

  @Test func `the response to a form is its record`() async throws {
    let server = try TestServer()
    let body =
      "--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nhi\r\n"
      + "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x.txt\"\r\nContent-Type: text/plain\r\n\r\nabc\r\n"
      + "--b--\r\n"
    let response = try await server.response(
      to: Self.post(body, type: "multipart/form-data; boundary=b"))
    let reported = try #require(try await server.reportedRequests(1).first)
    let time = try #require(response.text.firstMatch(of: /"time":"(.*?)"/)).output.1
    #expect(time.wholeMatch(of: /20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d\d\dZ/) != nil)
    #expect(
      response.text == """
        {"schema":"formstream.received/2","body_bytes":\(body.utf8.count),"complete":true,"parts":[\
        {"index":0,"name":"a","filename":null,"content_type":null,\
        "headers":[["Content-Disposition","form-data; name=\\"a\\""]],"size":2,\
        "sha256":"8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4",\
        "value":"hi","value_b64":null,"stored_as":null},\
        {"index":1,"name":"f","filename":"x.txt","content_type":"text/plain",\
        "headers":[["Content-Disposition","form-data; name=\\"f\\"; filename=\\"x.txt\\""],["Content-Type","text/plain"]],\
        "size":3,"sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",\
        "value":null,"value_b64":null,"stored_as":null}],\
        "error":null,"framing":"content-length","content_length":\(body.utf8.count),\
        "time":"\(time)","peer":"\(reported.peer)","method":"POST","target":"/a","status":200}

        """)
    #expect(response.status == 200)
    #expect(response.headers("Content-Type") == ["application/json"])
    #expect(response.headers("X-Content-Type-Options") == ["nosniff"])
    #expect(response.headers("Cache-Control") == ["no-store"])
    #expect(response.headers("Transfer-Encoding") == [])
    #expect(reported.json == response.text)
    #expect(reported.method == "POST")
    #expect(reported.peer.hasPrefix("127.0.0.1:"))
  }

  @Test func `without digests the record has none`() async throws {
    let server = try TestServer { $0.makesDigests = false }
    let response = try await server.response(to: Self.post("abc", type: nil))
    #expect(response.text.contains("\"sha256\":null"))
  }

  @Test func `short fields are in the record, long ones are passed to the handler`() async throws {
    let server = try TestServer {
      $0.limits.textField = 4
      $0.limits.allTextFields = 6
    }
    let response = try await server.response(
      to: Self.post("a=1234&b=12345&c=12&d=1&e=&f=%FF", type: "application/x-www-form-urlencoded"))
    #expect(response.status == 200)
    let parts = try #require(try await server.reportedRequests(1).first).parts
    #expect(parts.map(\.name) == ["a", "b", "c", "d", "e", "f"])
    #expect(parts.map(\.size) == [4, 5, 2, 1, 0, 1])
    let values: [String?] = ["1234", nil, "12", nil, "", nil]
    #expect(parts.map { $0.value.map { String(decoding: $0, as: UTF8.self) } } == values)
    #expect(server.handler.parts.map(\.name) == ["b", "d", "f"])
    #expect(server.handler.parts.map(\.bytes) == [Array("12345".utf8), [0x31], [0xFF]])
  }

  @Test func `a value that is not UTF-8 is in the record in base 64`() async throws {
    let server = try TestServer()
    let response = try await server.response(
      to: Self.post("f=%FF", type: "application/x-www-form-urlencoded"))
    #expect(response.text.contains("\"value\":null,\"value_b64\":\"/w==\""))
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
  func `a file sent by PUT is named by its path`(_ target: String, _ name: String?) async throws {
    let server = try TestServer()
    let response = try await server.response(
      to: Self.post("abc", type: "text/x", line: "PUT \(target)"))
    #expect(response.status == 200)
    let part = try #require(try await server.reportedRequests(1).first?.parts.first)
    #expect(part.filename == name)
    #expect(part.name == nil)
    #expect(part.contentType == "text/x")
    #expect(server.handler.parts.map(\.filename) == [name])
    #expect(server.handler.targets == [target])
  }

  @Test func `a body sent by POST that is not a form has no name`() async throws {
    let server = try TestServer()
    _ = try await server.response(to: Self.post("abc", type: nil, line: "POST /x.txt"))
    #expect(server.handler.parts == [.init(name: nil, filename: nil, bytes: Array("abc".utf8))])
  }

  @Test(arguments: [nil, "text/plain", "application/x-www-form-urlencoded"])
  func `empty bodies are accepted`(_ type: String?) async throws {
    for framing in ["Content-Length: 0\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"] {
      let server = try TestServer()
      let responses = try await server.responses(
        to: "POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
          + (type.map { "Content-Type: \($0)\r\n" } ?? "") + framing)
      #expect(responses.map(\.status) == [200])
      let reported = try #require(try await server.reportedRequests(1).first)
      #expect(reported.isComplete)
      #expect(reported.bodyBytes == 0)
      #expect(reported.parts.count == (type?.hasPrefix("application") == true ? 0 : 1))
    }
  }

  @Test func `the page is served at the root`() async throws {
    let server = try TestServer()
    let get = try await server.response(
      to: "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    #expect(get.status == 200)
    #expect(get.text.hasPrefix("<!DOCTYPE html>") || get.text.hasPrefix("<!doctype html>"))
    #expect(get.headers("Content-Security-Policy").first?.contains("default-src 'none'") == true)
    #expect(get.headers("X-Content-Type-Options") == ["nosniff"])
    #expect(get.headers("Referrer-Policy") == ["same-origin"])
    let heads = try await onNewThread {
      let client = try server.client()
      try client.send("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n")
      let head = try client.response(toHead: true)
      try client.send("HEAD /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
      let other = try client.response(toHead: true)
      var rest: [UInt8] = []
      #expect(try !client.receiveMore(into: &rest), "HEAD has no body")
      return [head, other]
    }
    #expect(heads.map(\.status) == [200, 404])
    #expect(heads.first?.headers("Content-Length") == ["\(get.body.count)"])
    let without = try TestServer { $0.servesPage = false }
    #expect(try await without.response(to: "GET / HTTP/1.0\r\n\r\n").status == 404)
    #expect(server.reportedRequests.map(\.method) == ["HEAD"], "only refusals are reported")
  }

  @Test func `a program responds to GET as a fixture of a test`() async throws {
    struct Broken: Error {}
    let server = try TestServer {
      $0.respondToGet = { request in
        switch request.path {
        case "/photos/7":
          try UploadResponse(
            status: 200, headers: ["ETag": "\"1\""], type: "application/json",
            text: #"{"id": 7, "target": "\#(request.target)"}"#)
        case "/gone": throw UploadRefusal(.notFound, status: 410, "The photo is gone.")
        case "/broken": throw Broken()
        default: nil
        }
      }
    }
    func get(_ target: String) async throws -> WireResponse {
      try await server.response(
        to: "GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    }
    let photo = try await get("/photos/7?size=1")
    #expect(photo.status == 200)
    #expect(photo.headers("Content-Type") == ["application/json"])
    #expect(photo.headers("ETag") == ["\"1\""])
    #expect(photo.text == #"{"id": 7, "target": "/photos/7?size=1"}"#)
    #expect(try await get("/gone").status == 410)
    let broken = try await get("/broken")
    #expect(broken.status == 500)
    #expect(!broken.text.contains("Broken"), "the client learns nothing of the program")
    #expect(try await get("/").text.hasPrefix("<!"), "the page is still there")
    #expect(try await get("/else").status == 404)
    // A page of another site that resolves its name to this machine must not read it.
    let foreign = try await server.response(
      to: "GET /photos/7 HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
    #expect(foreign.status == 403)
  }

  @Test func `a browser receives the record as a page`() async throws {
    let server = try TestServer()
    let response = try await server.response(
      to: Self.post(
        "--b\r\nContent-Disposition: form-data; name=\"a\"; filename=\"<b>&'\u{202E}\"\r\n\r\n"
          + "x\r\n--b--", type: "multipart/form-data; boundary=b",
        more: "Accept: application/xml\r\nAccept: text/html,*/*\r\n"))
    #expect(response.status == 200)
    #expect(response.headers("Content-Type") == ["text/html; charset=utf-8"])
    #expect(response.text.contains("&lt;b&gt;&amp;&#39;\\u{202E}"))
    #expect(!response.text.contains("<b>"))
    #expect(response.headers("Content-Security-Policy").count == 1)
    let bad = try await server.response(
      to: Self.post(
        "<script>", type: "multipart/form-data; boundary=b", more: "Accept: text/html\r\n"))
    #expect(bad.status == 400)
    #expect(bad.headers("Content-Type") == ["text/html; charset=utf-8"])
    #expect(!bad.text.contains("<script>"))
  }
}
