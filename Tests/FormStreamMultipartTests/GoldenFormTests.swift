import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// Complete small forms, byte for byte as RFC 2046 §5.1.1 and RFC 7578 §4 define them.
@Suite struct GoldenFormTests {
  @Test func `a form without parts is only its last delimiter`() throws {
    #expect(try sent(Form(boundary: Boundary("B"))) == "--B--\r\n")
  }

  @Test func `a form with one text`() throws {
    let form = Form(boundary: try Boundary("B")) { Part.text("a", "1") }
    #expect(
      try sent(form)
        == "--B\r\n"
        + "Content-Disposition: form-data; name=\"a\"\r\n"
        + "\r\n"
        + "1\r\n"
        + "--B--\r\n")
    #expect(form.contentType == "multipart/form-data; boundary=B")
  }

  @Test func `a form with text, a file and bytes keeps their order`() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("note.txt", "from disk")
    let form = Form(boundary: try Boundary("B")) {
      Part.text("title", "Sunset")
      Part.file("f", path, type: MediaType("text/plain"))
      Part.bytes("raw", [0x01, 0x02])
    }
    #expect(
      try sent(form)
        == "--B\r\n"
        + "Content-Disposition: form-data; name=\"title\"\r\n"
        + "\r\n"
        + "Sunset\r\n"
        + "--B\r\n"
        + "Content-Disposition: form-data; name=\"f\"; filename=\"note.txt\"\r\n"
        + "Content-Type: text/plain\r\n"
        + "\r\n"
        + "from disk\r\n"
        + "--B\r\n"
        + "Content-Disposition: form-data; name=\"raw\"\r\n"
        + "\r\n"
        + "\u{01}\u{02}\r\n"
        + "--B--\r\n")
  }

  @Test func `a form inside a form is multipart/mixed with its own boundary`() throws {
    let inner = Form(boundary: try Boundary("in ner")) { Part.text("a", "1") }
    let form = Form(boundary: try Boundary("outer")) {
      Part.form("set", inner)
      Part.text("b", "2")
    }
    #expect(
      try sent(form)
        == "--outer\r\n"
        + "Content-Disposition: form-data; name=\"set\"\r\n"
        + "Content-Type: multipart/mixed; boundary=\"in ner\"\r\n"
        + "\r\n"
        + "--in ner\r\n"
        + "Content-Disposition: form-data; name=\"a\"\r\n"
        + "\r\n"
        + "1\r\n"
        + "--in ner--\r\n"
        + "\r\n"
        + "--outer\r\n"
        + "Content-Disposition: form-data; name=\"b\"\r\n"
        + "\r\n"
        + "2\r\n"
        + "--outer--\r\n")
  }

  @Test func `a form inside a form can have another multipart type, and no other type`() throws {
    let inner = Form(boundary: try Boundary("I"))
    var part = Part(name: "a", type: MediaType("multipart/related; x=y"), body: .form(inner))
    #expect(
      try sent(Form(boundary: Boundary("B"), parts: [part]))
        == "--B\r\n"
        + "Content-Disposition: form-data; name=\"a\"\r\n"
        + "Content-Type: multipart/related; x=y; boundary=I\r\n"
        + "\r\n"
        + "--I--\r\n"
        + "\r\n"
        + "--B--\r\n")
    part.type = MediaType("text/plain")
    #expect(failure { try sent(Form(parts: [part])) }?.code == .invalidMediaType)
  }

  @Test func `extra headers follow the derived ones in order`() throws {
    var headers = HTTPHeaders()
    headers.append("X-One", "1; a=\"b\"")
    headers.append("x-two", "")
    headers.append("X-One", "é\tz")
    let part = Part(
      name: "a", filename: "f", type: MediaType("image/png"), headers: headers, body: .text("t"))
    #expect(
      try sent(Form(boundary: Boundary("B"), parts: [part]))
        == "--B\r\n"
        + "Content-Disposition: form-data; name=\"a\"; filename=\"f\"\r\n"
        + "Content-Type: image/png\r\n"
        + "X-One: 1; a=\"b\"\r\n"
        + "x-two: \r\n"
        + "X-One: é\tz\r\n"
        + "\r\n"
        + "t\r\n"
        + "--B--\r\n")
  }

  @Test func `a part with a file name and no type has that of its extension, or octet-stream`()
    throws
  {
    let form = Form(boundary: try Boundary("B")) {
      Part.bytes("a", Array("1".utf8), filename: "x.PNG")
      Part.bytes("b", [UInt8](), filename: "")
    }
    #expect(
      try sent(form)
        == "--B\r\n"
        + "Content-Disposition: form-data; name=\"a\"; filename=\"x.PNG\"\r\n"
        + "Content-Type: image/png\r\n"
        + "\r\n"
        + "1\r\n"
        + "--B\r\n"
        + "Content-Disposition: form-data; name=\"b\"; filename=\"\"\r\n"
        + "Content-Type: application/octet-stream\r\n"
        + "\r\n"
        + "\r\n"
        + "--B--\r\n")
  }

  @Test func `a part with an empty name and an empty text is a part`() throws {
    let form = Form(boundary: try Boundary("B")) { Part.text("", "") }
    #expect(
      try sent(form)
        == "--B\r\n"
        + "Content-Disposition: form-data; name=\"\"\r\n"
        + "\r\n"
        + "\r\n"
        + "--B--\r\n")
  }

  @Test func `text that ends with a line break or hyphens keeps them`() throws {
    let form = Form(boundary: try Boundary("B")) { Part.text("a", "x\r\n--\r\n") }
    #expect(
      try sent(form)
        == "--B\r\n"
        + "Content-Disposition: form-data; name=\"a\"\r\n"
        + "\r\n"
        + "x\r\n--\r\n\r\n"
        + "--B--\r\n")
  }

  @Test func `the builder accepts if, for, switch and arrays`() throws {
    let names = ["a", "b"]
    let form = Form {
      for name in names { Part.text(name, "") }
      if names.count == 2 { Part.text("two", "") }
      if names.isEmpty { Part.text("none", "") } else { Part.text("some", "") }
      [Part.text("x", ""), Part.text("y", "")]
      switch names.count {
      case 2: Part.text("pair", "")
      default: Part.text("other", "")
      }
    }
    #expect(form.parts.map(\.name) == ["a", "b", "two", "some", "x", "y", "pair"])
    var longer = form
    longer.append(.text("last", ""))
    #expect(longer.parts.last?.name == "last")
  }

  /// The outer type once got a second boundary parameter after the first.
  @Test func `the type of a form inside a form must not have a boundary`() throws {
    func form(_ type: MediaType) -> Form {
      Form { Part(name: "f", type: type, body: .form(Form())) }
    }
    #expect(failure { try form("multipart/mixed; Boundary=x").layout() }?.code == .invalidMediaType)
    #expect(failure { try form("text/plain").layout() }?.code == .invalidMediaType)
    #expect(failure { try form("multipart/related; type=\"text/x\"").layout() } == nil)
  }
}

/// The complete body of a small form, as text.
func sent(_ form: Form) throws -> String {
  let layout = try form.layout()
  let body = try layout.bytes(limit: 1 << 20)
  #expect(layout.contentLength == Int64(body.count))
  return String(decoding: body, as: UTF8.self)
}
