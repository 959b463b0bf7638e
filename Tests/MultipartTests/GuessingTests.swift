import Multipart
import Synchronization
import TestSupport
import Testing

@Suite struct GuessingTests {
  /// Notes what it is asked, and answers by the file name's last letters.
  private final class Guesser: MediaTypeGuessing {
    let asked = Mutex<[String]>([])

    func mediaType(filename: String, path: LocalPath?) -> MediaType? {
      asked.withLock { $0.append("\(filename) \(path?.description ?? "-")") }
      return filename.hasSuffix(".png") ? MediaType("image/png") : nil
    }
  }

  @Test func `only parts with a file name and no type are guessed, and the path is told`() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("on-disk", "1")
    let form = Form(boundary: try Boundary("B")) {
      Part.text("a", "1")
      Part.bytes("b", [UInt8](), filename: "x.png")
      Part.bytes("c", [UInt8](), filename: "y.png", type: MediaType("a/b"))
      Part.file("d", path)
    }
    let guesser = Guesser()
    let body = try form.layout(guessing: guesser).bytes(limit: 4096)
    #expect(guesser.asked.withLock(\.self) == ["x.png -", "on-disk \(path)"])
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

  @Test func `placed parts tell their headers, places and lengths`() throws {
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

  @Test func `a form inside counts as one part, with all of its bytes`() throws {
    let inner = Form(boundary: try Boundary("I")) {
      Part.text("x", "1")
      Part.stream("s", length: 3) { OneByteSource([1, 2, 3]) }
      Part.bytes("b", noise(2000))
    }
    let layout = try Form(boundary: Boundary("B")) { Part.form("f", inner) }.layout()
    #expect(layout.partCount == 1)
    // The inner body is a whole body of its own.
    #expect(layout.placedPart(at: 0).bodyLength == (try inner.layout().contentLength))
  }
}
