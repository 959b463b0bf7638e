import FormStream
import Foundation
import FormStreamTestSupport
import Testing

/// A form is parsed back through each interface of the parser.
@Suite struct ParsingTests {
  private let form: Form
  private let body: [UInt8]
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    let path = try directory.write("pic \"1\".png", noise(300_000))
    form = Form {
      Part.text("title", "Sün\r\nset")
      Part.file("photo", path, type: "image/png")
      Part.text("empty", "")
    }
    body = try form.layout().bytes(limit: 1 << 20)
  }

  private func check(_ collected: CollectedForm) {
    #expect(collected.parts.map(\.head.name) == ["title", "photo", "empty"])
    #expect(collected["title"]?.text == "Sün\r\nset")
    #expect(collected["photo"]?.bytes == noise(300_000))
    #expect(collected["photo"]?.head.filename == "pic %221%22.png")
    #expect(collected["photo"]?.head.contentType == "image/png")
    #expect(collected["empty"]?.bytes == [])
    #expect(collected["none"] == nil)
  }

  @Test func `a form is parsed from its own stream`() throws {
    let stream = try FormInputStream(form)
    let parser = try FormParser(contentType: stream.contentType)
    check(try CollectedForm(reading: stream, with: parser, limit: 1 << 20))
    #expect(parser.offset == stream.contentLength)
    #expect(stream.streamStatus == .closed)
  }

  @Test func `a form is parsed from a source of single bytes`() throws {
    let record = SourceRecord()
    let source = OneByteSource(body, record: record)
    let parser = try FormParser(contentType: form.contentType)
    check(try CollectedForm(reading: source, with: parser, limit: 1 << 20))
    #expect(record.closes == 1)
  }

  @Test(arguments: [1, 7, 4096, 1 << 20])
  func `a form is parsed from a sequence of chunks`(_ size: Int) async throws {
    let body = self.body
    let chunks = AsyncStream<ArraySlice<UInt8>> { feed in
      for start in stride(from: 0, to: body.count, by: size) {
        feed.yield(body[start..<min(start + size, body.count)])
      }
      feed.finish()
    }
    let parser = try FormParser(contentType: form.contentType)
    var names: [String?] = []
    var bytes: [[UInt8]] = []
    var ends = 0
    for try await event in FormEvents(of: chunks, parser: parser) {
      switch event {
      case .partBegan(let head):
        names.append(head.name)
        bytes.append([])
      case .partBytes(let piece): bytes[bytes.count - 1] += piece
      case .partEnded, .formEnded: ends += 1
      }
    }
    #expect(names == ["title", "photo", "empty"])
    #expect(bytes == [Array("Sün\r\nset".utf8), noise(300_000), []])
    #expect(ends == 4)
  }

  /// Regression: after an error, the events of the chunk before it came again, and after them the end of the body. The events
  /// before the error in its own chunk were lost.
  @Test(arguments: [["--B\r\n\r\na", "b"], ["--B\r\n\r\na", "b\r\n--B x"], ["", "--B\r\n\r\nab\r\n--B x"]])
  func `all events come before an error, and none after it`(_ texts: [String]) async throws {
    let chunks = AsyncStream<[UInt8]> { continuation in
      for text in texts { continuation.yield(Array(text.utf8)) }
      continuation.finish()
    }
    var options = FormParser.Options()
    options.requiresNames = false
    let parser = try FormParser(boundary: "B", options: options)
    var events = FormEvents(of: chunks, parser: parser).makeAsyncIterator()
    var found: [UInt8] = []
    let error = await #expect(throws: MultipartError.self) {
      while let event = try await events.next() { if case .partBytes(let bytes) = event { found += bytes } }
    }
    #expect(found == Array("ab".utf8))
    #expect(error?.code == (texts[1].count == 1 ? .bodyIncomplete : .malformedBody))
    for _ in 0..<2 {
      let again = await #expect(throws: MultipartError.self) { try await events.next() }
      #expect(again?.code == error?.code)
    }
  }

  @Test func `a body that is too large, cut off or failing is an error, and the source is closed`()
    throws
  {
    func error(_ source: any ByteSource, limit: Int = 1 << 20) throws -> MultipartError? {
      let parser = try FormParser(contentType: form.contentType)
      return failure { try CollectedForm(reading: source, with: parser, limit: limit) }
    }
    let record = SourceRecord()
    #expect(try error(ScriptedSource(body, record: record), limit: 100)?.code == .limitExceeded)
    #expect(record.closes == 1)
    #expect(try error(ScriptedSource(Array(body.dropLast(9))))?.code == .bodyIncomplete)
    #expect(try error(ScriptedSource(Array(body.dropLast(2)))) == nil)
    let missing = InputStream(fileAtPath: directory.path("missing"))
    let parser = try FormParser(contentType: form.contentType)
    #expect(throws: (any Error).self) {
      try parser.parse(try #require(missing)) { _ in }
    }
  }

  @Test(arguments: [
    ("multipart/form-data; boundary=abc", "abc"), ("Multipart/Form-Data;boundary=\"a b\"", "a b"),
    ("multipart/mixed ; charset=x; BOUNDARY = abc", "abc"),
    ("multipart/form-data;\r\n boundary=abc", "abc"),
    ("multipart/form-data; boundary=\"a\\\"b\"", "a\"b"),
    ("multipart/form-data; boundary=\"a;b\"; x=y", "a;b"),
    ("multipart/form-data; boundary=a=b", "a=b"),
    ("multipart/form-data", nil), ("multipart/form-data; boundary=", nil),
    ("text/plain; boundary=abc", nil), ("multipart/form-data; boundary=\"abc", nil), ("", nil),
    ("multipart/form-data; boundary=a; boundary=b", nil),
  ])
  func `the boundary is read from a Content-Type`(_ type: String, _ boundary: String?) {
    #expect(FormParser.boundary(inContentType: type) == boundary)
    #expect(
      failure { try FormParser(contentType: type) }?.code
        == (boundary == nil ? .invalidBoundary : nil))
  }
}
