import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// Forms of other types than form data, byte for byte.
@Suite struct FormTypeTests {
  private func form(_ type: FormType, _ parts: [Part] = [Part(body: .text("1"))]) throws -> Form {
    Form(type: type, boundary: try Boundary("B"), parts: parts)
  }

  @Test func `parts of a mixed form need no name`() throws {
    var withHeader = Part(type: .json, body: .text("{}"))
    withHeader.headers.append("Content-ID", "<a@b>")
    let form = try form(
      .mixed,
      [
        Part(body: .text("plain")), withHeader,
        Part(filename: "a \"b\".png", body: .bytes([0x31])),
        Part(name: "named", filename: "c", type: "x/y", body: .text("2")),
      ])
    #expect(form.contentType == "multipart/mixed; boundary=B")
    #expect(
      try sent(form)
        == "--B\r\n"
        + "\r\n"
        + "plain\r\n"
        + "--B\r\n"
        + "Content-Type: application/json\r\n"
        + "Content-ID: <a@b>\r\n"
        + "\r\n"
        + "{}\r\n"
        + "--B\r\n"
        + "Content-Disposition: attachment; filename=\"a %22b%22.png\"\r\n"
        + "Content-Type: image/png\r\n"
        + "\r\n"
        + "1\r\n"
        + "--B\r\n"
        + "Content-Disposition: attachment; name=\"named\"; filename=\"c\"\r\n"
        + "Content-Type: x/y\r\n"
        + "\r\n"
        + "2\r\n"
        + "--B--\r\n")
  }

  @Test func `a related form names the type of its root`() throws {
    let json = Part(type: "Application/JSON; charset=utf-8", body: .text("{}"))
    let image = Part(type: "image/png", body: .text("p"))
    #expect(
      try form(.related, [json, image]).layout().contentType
        == "multipart/related; type=\"application/json\"; boundary=B")
    #expect(
      try form(.related).contentType == "multipart/related; type=\"text/plain\"; boundary=B")
    var root = image
    root.headers.append("content-id", "<r\"\\@x>")
    #expect(
      try form(.related(start: "<r\"\\@x>"), [json, root]).layout().contentType
        == "multipart/related; start=\"<r\\\"\\\\@x>\"; type=\"image/png\"; boundary=B")
    #expect(
      try form("multipart/related; type=\"a/b\"", [json]).layout().contentType
        == "multipart/related; type=\"a/b\"; boundary=B")
    let inner = Form(type: .alternative, boundary: try Boundary("I"), parts: [json])
    #expect(
      try form(.related, [Part(body: .form(inner)), image]).layout().contentType
        == "multipart/related; type=\"multipart/alternative\"; boundary=B")
  }

  @Test(
    arguments: [
      (.alternative, "multipart/alternative"), (.parallel, "multipart/parallel"),
      ("multipart/report; report-type=x", "multipart/report; report-type=x"),
    ] as [(FormType, String)])
  func `other types`(_ type: FormType, _ text: String) throws {
    #expect(try form(type).layout().contentType == "\(text); boundary=B")
    #expect(try sent(form(type)) == "--B\r\n\r\n1\r\n--B--\r\n")
  }

  @Test func `a form inside a form keeps its type`() throws {
    let image = Part(type: "image/png", body: .text("p"))
    let inner = Form(type: .related, boundary: try Boundary("I"), parts: [image])
    #expect(
      try sent(form(.mixed, [Part(body: .form(inner))]))
        == "--B\r\n"
        + "Content-Type: multipart/related; type=\"image/png\"; boundary=I\r\n"
        + "\r\n"
        + "--I\r\nContent-Type: image/png\r\n\r\np\r\n--I--\r\n"
        + "\r\n--B--\r\n")
  }

  @Test(
    arguments: [
      "text/plain", "multipart", "multipart/mixed; boundary=x", "multipart/", "",
      "multipart/a\r\nb",
      "multipart/related; start=\"<a>\"", .related(start: "\r\nX: y"), .related(start: ""),
    ] as [FormType])
  func `a type that is not a multipart type, or does not fit the parts, is an error`(
    _ type: FormType
  ) throws {
    let error = failure { try form(type).layout() }
    #expect(error?.code == .invalidMediaType)
    #expect(error?.description.hasSuffix(".") == true)
    let outer = Form(parts: [Part(name: "f", body: .form(try form(type)))])
    #expect(failure { try outer.layout() }?.code == .invalidMediaType)
  }

  @Test func `a related form needs a root, and its type`() throws {
    #expect(failure { try form(.related, []).layout() }?.code == .invalidMediaType)
    let untyped = Part(filename: "a.png", body: .text(""))
    #expect(failure { try form(.related, [untyped]).layout() }?.code == .invalidMediaType)
  }

  @Test(arguments: [FormType.mixed, .related, .alternative, "multipart/x"])
  func `parts without names are parsed`(_ type: FormType) throws {
    let form = Form(type: type) {
      Part(type: .json, body: .text("{}"))
      Part(filename: "a.png", body: .bytes(noise(3000)))
      Part(name: "n", body: .text("x"))
    }
    let layout = try form.layout()
    let parser = try FormParser(contentType: layout.contentType)
    let source = ScriptedSource(try layout.bytes(limit: 1 << 20))
    let read = try CollectedForm(reading: source, with: parser, limit: 1 << 20)
    #expect(read.parts.map(\.bytes) == [Array("{}".utf8), noise(3000), Array("x".utf8)])
    #expect(read.parts.map(\.head.name) == [nil, nil, "n"])
    #expect(read.parts.map(\.head.filename) == [nil, "a.png", nil])
    #expect(read.parts.map(\.head.contentType) == ["application/json", "image/png", nil])
  }

  @Test(arguments: ["multipart/form-data", "Multipart/Form-Data ", "multipart/form-data\t"])
  func `form data still needs names`(_ type: String) throws {
    let parser = try FormParser(contentType: "\(type); boundary=B")
    let source = ScriptedSource(Array("--B\r\nContent-Type: a/b\r\n\r\n1\r\n--B--\r\n".utf8))
    #expect(
      failure { try CollectedForm(reading: source, with: parser, limit: 10) }?.code
        == .malformedBody)
  }

  @Test func `numbers and Booleans are fields`() throws {
    let parts: [Part] = [
      .text("a", 12), .text("b", true), .text("c", 1.5), .text("d", UInt64.max), .text("e", "t"),
      .text("f", Substring("s")), .text("g", -0.1 as Float),
    ]
    let form = Form(parts: parts)
    let parser = try FormParser(contentType: form.contentType)
    let source = ScriptedSource(try form.layout().bytes(limit: 1 << 20))
    let read = try CollectedForm(reading: source, with: parser, limit: 1 << 20)
    #expect(
      read.parts.map(\.text) == ["12", "true", "1.5", "18446744073709551615", "t", "s", "-0.1"])
  }
}
