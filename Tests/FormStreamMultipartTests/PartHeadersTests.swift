import FormStreamMultipart
import FormStreamTestSupport
import Testing

@Suite struct PartHeadersTests {
  private func append(_ name: String, _ value: String) -> MultipartError? {
    failure { try layout([name: value]) }
  }

  private func layout(_ headers: HTTPHeaders) throws -> BodyLayout {
    try Form { Part.text("a", "b", headers: headers) }.layout()
  }

  /// RFC 9110 §5.6.2: tchar.
  @Test func `each ASCII character is accepted or refused in a header name as the grammar says`() {
    let tokens =
      "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    for byte in UInt8(0)...127 {
      let character = String(UnicodeScalar(byte))
      let code = append("X\(character)", "1")?.code
      #expect(code == (tokens.contains(character) ? nil : .invalidHeader), "\(byte)")
    }
  }

  @Test(arguments: ["", "é", "X Y", "X:", " X", "X\r\nY", "X\0"])
  func `a name that is not a token is refused`(name: String) {
    #expect(append(name, "1")?.code == .invalidHeader)
    #expect(append(name, "1")?.subject == name)
  }

  @Test(arguments: [
    "Content-Disposition", "content-disposition", "CONTENT-TYPE", "Content-type", "content-Length",
    "CONTENT-LENGTH",
  ])
  func `derived headers can't be set by hand`(name: String) {
    #expect(append(name, "1")?.code == .invalidHeader)
  }

  /// RFC 9110 §5.5.
  @Test func `control characters except the tab are refused in values`() {
    for byte in UInt8(0)...127 {
      let character = String(UnicodeScalar(byte))
      let isRefused = byte < 0x20 && byte != 0x09 || byte == 0x7F
      #expect((append("X", "a\(character)b")?.code == .invalidHeader) == isRefused, "\(byte)")
    }
    #expect(append("X", "é😀") == nil)
    #expect(append("X", "a\r\nY: 1")?.code == .invalidHeader)
  }

  @Test func `a part can have 32 headers, including derived ones`() throws {
    var headers = HTTPHeaders((1...30).map { ("X-\($0)", "\($0)") })
    #expect(headers.map(\.name).first == "X-1")
    #expect(headers.count == 30)
    _ = try layout(headers)
    headers.append("X-31", "")
    #expect(failure { try layout(headers) }?.code == .headersTooLarge)
  }

  @Test func `headers keep their order and repeats until they are set or removed`() {
    var headers: HTTPHeaders = ["X-A": "1", "X-B": "2", "x-a": "3", "X-C": "4"]
    #expect(headers.map(\.value) == ["1", "2", "3", "4"])
    #expect(headers["x-A"] == "1")
    headers["X-a"] = "5"
    #expect(headers.map(\.name) == ["X-a", "X-B", "X-C"])
    #expect(headers.map(\.value) == ["5", "2", "4"])
    headers["X-b"] = nil
    headers.set("X-D", "6")
    headers.append("X-D", "7")
    #expect(headers.map(\.value) == ["5", "4", "6", "7"])
    headers.remove("x-d")
    #expect(headers.map(\.name) == ["X-a", "X-C"])
    #expect(headers["X-D"] == nil)
  }

  @Test func `headers from a dictionary are in the order of their names`() {
    let pairs = (10..<40).map { ("X-\($0)", "\($0)") }
    let dictionary = Dictionary(uniqueKeysWithValues: pairs)
    #expect(HTTPHeaders(dictionary) == HTTPHeaders(pairs))
    #expect(HTTPHeaders([String: String]()) == [:])
  }

  @Test func `each kind of part takes headers`() throws {
    let place = try TemporaryDirectory()
    let file = try place.write("a.txt", "a")
    let headers: HTTPHeaders = ["X-Kind": "any"]
    let form = Form {
      Part.text("1", "a", headers: headers)
      Part.file("2", file, headers: headers)
      Part.bytes("3", Array("a".utf8), headers: headers)
      Part.stream("4", headers: headers) { OneByteSource(Array("a".utf8)) }
      Part.form("5", Form(), headers: headers)
    }
    let layout = try form.layout()
    for index in 0..<layout.partCount {
      #expect(layout.placedPart(at: index).headers.contains("\r\nX-Kind: any\r\n"), "\(index)")
    }
  }

  /// The block `Content-Disposition: form-data; name=""` with its two line breaks has 43 bytes.
  @Test func `a header block can have 16 KiB and not one byte more`() throws {
    let room = 16 * 1024 - 43
    func layout(_ count: Int) throws -> BodyLayout {
      try Form { Part.text(String(repeating: "n", count: count), "") }.layout()
    }
    #expect(try layout(room).placedPart(at: 0).headers.utf8.count == 16 * 1024)
    #expect(failure { try layout(room + 1) }?.code == .headersTooLarge)
  }

  @Test func `a name of 1 MiB is refused with a short message`() throws {
    let name = String(repeating: "n", count: 1 << 20)
    let error = try #require(failure { try Form { Part.text(name, "") }.layout() })
    #expect(error.code == .headersTooLarge)
    #expect(error.description.utf8.count < 400)
    let collision = try #require(
      failure {
        try Form(boundary: Boundary("B")) {
          Part.bytes(String(repeating: "é", count: 5000), Array("--B".utf8))
        }.layout()
      })
    #expect(collision.code == .boundaryCollision)
    #expect(collision.description.utf8.count < 400)
  }
}
