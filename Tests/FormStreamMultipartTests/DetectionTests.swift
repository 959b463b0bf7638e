import FormStreamMultipart
import Synchronization
import FormStreamTestSupport
import Testing

@Suite struct DetectionTests {
  /// Records its calls, and returns a type for some extensions.
  private final class Detector: MediaTypeDetector {
    let asked = Mutex<[String]>([])

    func mediaType(of part: UntypedPart) -> MediaType? {
      asked.withLock { $0.append("\(part.filename) \(part.path?.description ?? "-")") }
      return part.filename.hasSuffix(".png") ? MediaType("image/png") : nil
    }
  }

  /// Returns a type that contains the first bytes, so that the body shows them.
  private struct Looker: MediaTypeDetector {
    var count = 4

    func mediaType(of part: UntypedPart) -> MediaType? {
      MediaType("x/" + String(decoding: part.firstBytes(upTo: count), as: UTF8.self))
    }
  }

  private func body(
    _ part: Part, _ looker: Looker = Looker()
  ) throws -> String {
    let form = Form(boundary: try Boundary("B"), parts: [part])
    let bytes = try form.layout(detector: looker).bytes(limit: 1 << 20)
    return String(decoding: bytes, as: UTF8.self)
  }

  private func expected(_ type: String, _ content: String) -> String {
    "--B\r\nContent-Disposition: form-data; name=\"a\"; filename=\"f\"\r\n"
      + "Content-Type: \(type)\r\n\r\n\(content)\r\n--B--\r\n"
  }

  @Test func `a detector gets the first bytes that will be sent`() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("on-disk", "0123456789")
    let text = Part(name: "a", filename: "f", body: .text("abcdef"))
    #expect(try body(text) == expected("x/abcd", "abcdef"))
    #expect(try body(.bytes("a", Array("ab".utf8), filename: "f")) == expected("x/ab", "ab"))
    #expect(try body(.file("a", path, filename: "f")) == expected("x/0123", "0123456789"))
    let range = FileRange(offset: 8, length: 2)
    #expect(try body(.file("a", path, filename: "f", range: range)) == expected("x/89", "89"))
  }

  @Test(arguments: [Replay.once, .repeatable])
  func `a stream whose first bytes were looked at for its type is sent completely`(_ replay: Replay)
    throws
  {
    let part = Part.stream("a", filename: "f", length: 10, replay: replay) {
      OneByteSource(Array("0123456789".utf8))
    }
    #expect(try body(part) == expected("x/0123", "0123456789"))
    let long = Part.stream("a", filename: "f", replay: replay) {
      StaccatoSource(Array(repeating: UInt8(ascii: "y"), count: 9000), seed: 1)
    }
    #expect(try body(long) == expected("x/yyyy", String(repeating: "y", count: 9000)))
    let empty = Part.stream("a", filename: "f", replay: replay) { OneByteSource([]) }
    #expect(try body(empty) == expected("application/octet-stream", ""))
  }

  @Test func `a pipe that was looked at for its type can be read once, and only by that layout`()
    throws
  {
    let part = Part.stream("a", filename: "f", replay: .once) { OneByteSource([1, 2, 3]) }
    let form = Form(boundary: try Boundary("B"), parts: [part])
    let layout = try form.layout(detector: Looker())
    #expect(failure { try form.layout(detector: Looker()) }?.code == .notReplayable)
    #expect(failure { try layout.bytes(limit: 4096) } == nil)
    #expect(failure { try layout.bytes(limit: 4096) }?.code == .notReplayable)
  }

  @Test func `a source that was looked at for its type and never read is closed`() throws {
    let record = SourceRecord()
    let part = Part.stream("a", filename: "f", replay: .once) {
      ScriptedSource([1, 2, 3], record: record)
    }
    _ = try Form(boundary: Boundary("B"), parts: [part]).layout(detector: Looker())
    #expect(record.opens == 1)
    #expect(record.closes == 1)
  }

  @Test func `if the first bytes can't be read, the form can't be laid out`() throws {
    let part = Part.stream("a", filename: "f") { throw TestError(7) }
    let form = Form(boundary: try Boundary("B"), parts: [part])
    let error = failure { try form.layout(detector: Looker()) }
    #expect(error?.code == .streamFailed)
    #expect(error?.underlying as? TestError == TestError(7))
    #expect(failure { try form.layout() } == nil)
  }

  @Test func `only parts with a file name and no type are detected, with the path`() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("on-disk", "1")
    let form = Form(boundary: try Boundary("B")) {
      Part.text("a", "1")
      Part.bytes("b", [UInt8](), filename: "x.png")
      Part.bytes("c", [UInt8](), filename: "y.png", type: MediaType("a/b"))
      Part.file("d", path)
    }
    let detector = Detector()
    let body = try form.layout(detector: detector).bytes(limit: 4096)
    #expect(detector.asked.withLock(\.self) == ["x.png -", "on-disk \(path)"])
    #expect(
      String(decoding: body, as: UTF8.self)
        == "--B\r\n"
        + "Content-Disposition: form-data; name=\"a\"\r\n"
        + "\r\n"
        + "1\r\n"
        + "--B\r\n"
        + "Content-Disposition: form-data; name=\"b\"; filename=\"x.png\"\r\n"
        + "Content-Type: image/png\r\n"
        + "\r\n"
        + "\r\n"
        + "--B\r\n"
        + "Content-Disposition: form-data; name=\"c\"; filename=\"y.png\"\r\n"
        + "Content-Type: a/b\r\n"
        + "\r\n"
        + "\r\n"
        + "--B\r\n"
        + "Content-Disposition: form-data; name=\"d\"; filename=\"on-disk\"\r\n"
        + "Content-Type: application/octet-stream\r\n"
        + "\r\n"
        + "1\r\n"
        + "--B--\r\n")
  }

  @Test func `a placed part has the type that is sent, given or detected`() throws {
    let form = Form(boundary: try Boundary("B")) {
      Part.text("a", "12345")
      Part(name: "b", filename: "f.png", body: .text(""))
      Part(name: "c", filename: "f.png", type: "a/b", body: .text(""))
      Part(name: "d", filename: "f", body: .text(""))
    }
    let layout = try form.layout(detector: Detector())
    let types = (0..<4).map { layout.placedPart(at: $0).type?.description }
    #expect(types == [nil, "image/png", "a/b", "application/octet-stream"])
  }

  @Test func `placed parts have their headers, offsets and lengths`() throws {
    let form = Form(boundary: try Boundary("B")) {
      Part.text("a", "12345")
      Part.stream("s") { OneByteSource([1]) }
      Part.text("z", "9")
    }
    let layout = try form.layout()
    #expect(layout.partCount == 3)
    let first = layout.placedPart(at: 0)
    #expect(first.headers == "Content-Disposition: form-data; name=\"a\"\r\n\r\n")
    // "--B\r\n" is 5 bytes, the header line 42 with its CRLF, the empty line 2.
    #expect([first.offset, first.bodyOffset, first.bodyLength] == [0, 49, 5])
    let stream = layout.placedPart(at: 1)
    #expect([stream.offset, stream.bodyOffset, stream.bodyLength] == [54, 105, nil])
    let last = layout.placedPart(at: 2)
    #expect([last.offset, last.bodyOffset, last.bodyLength] == [nil, nil, 1])
    #expect(last.part.name == "z")
    #expect(layout.contentLength == nil)
  }

  @Test func `a form inside the form counts as one part with all of its bytes`() throws {
    let inner = Form(boundary: try Boundary("I")) {
      Part.text("x", "1")
      Part.stream("s", length: 3) { OneByteSource([1, 2, 3]) }
      Part.bytes("b", noise(2000))
    }
    let layout = try Form(boundary: Boundary("B")) { Part.form("f", inner) }.layout()
    #expect(layout.partCount == 1)
    // The inner body is a complete body.
    #expect(layout.placedPart(at: 0).bodyLength == (try inner.layout().contentLength))
  }
}
