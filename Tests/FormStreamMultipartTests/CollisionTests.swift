import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// RFC 2046 §5.1.1: "Boundary delimiters must not appear within the encapsulated material."
@Suite struct CollisionTests {
  private let boundary: Boundary
  init() throws { boundary = try Boundary("frontier") }

  private static let colliding = [
    "--frontier", "--frontier--", "--frontierX", "a\r\n--frontier", "a\n--frontier\n",
    "a\r--frontier",
    "\r\n--frontier", "a\r\n\r\n--frontier and more",
    // The parsers of Django and Rack end a part here too, without an error.
    "a--frontier", "\r\n --frontier", "\r\n---frontier", "\u{2028}--frontier", "----frontier",
    "-\r\n-------frontier", "--frontie--frontier",
    String(repeating: "x", count: 3000) + "\r\n--frontier",
    String(repeating: "\n", count: 3000) + "--frontier",
  ]
  private static let near = [
    "-frontier", "--frontie", "--Frontier", "\r\n-frontier", "\r\n- -frontier", "frontier",
    "--\r\nfrontier", "--frontie\nr", "-- frontier",
  ]

  @Test(arguments: colliding)
  func `text that contains the delimiter is refused`(text: String) {
    let error = failure { try Form(boundary: boundary) { Part.text("a", text) }.layout() }
    #expect(error?.code == .boundaryCollision)
    #expect(error?.subject == "a")
  }

  @Test(arguments: colliding)
  func `bytes that contain the delimiter are refused`(text: String) {
    let part = Part.bytes("a", Array(text.utf8))
    #expect(
      failure { try Form(boundary: boundary, parts: [part]).layout() }?.code == .boundaryCollision)
  }

  @Test(arguments: near)
  func `a near miss is no collision`(text: String) throws {
    let form = Form(boundary: boundary) {
      Part.text("a", text)
      Part.stream("b") { StaccatoSource(Array(text.utf8), seed: 1) }
    }
    #expect(throws: Never.self) { try form.layout(verify: true).bytes(limit: 10_000) }
  }

  @Test(arguments: colliding)
  func `files are searched only if verify is set`(text: String) throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("f", text)
    let form = Form(boundary: boundary) { Part.file("a", path) }
    #expect(failure { try form.layout(verify: true) }?.code == .boundaryCollision)
    #expect(failure { try form.layout() } == nil)
  }

  @Test func `only the range of a file that is sent is searched`() throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("f", "0123\n--frontier")
    func form(_ range: FileRange) -> Form {
      Form(boundary: boundary) { Part.file("a", path, range: range) }
    }
    #expect(failure { try form(FileRange(offset: 0, length: 14)).layout(verify: true) } == nil)
    #expect(
      failure { try form(FileRange(offset: 5)).layout(verify: true) }?.code == .boundaryCollision)
    #expect(failure { try form(FileRange(offset: 6)).layout(verify: true) } == nil)
  }

  @Test func `a delimiter at the end of the file reader's buffer is found`() throws {
    let directory = try TemporaryDirectory()
    let delimiter = Array("\n--frontier".utf8)
    for shift in -1...delimiter.count {
      let lead = [UInt8](repeating: 0x78, count: 256 * 1024 - shift)
      let path = try directory.write("f", lead + delimiter)
      let form = Form(boundary: boundary) { Part.file("a", path) }
      #expect(failure { try form.layout(verify: true) }?.code == .boundaryCollision, "\(shift)")
    }
  }

  @Test(arguments: colliding, [1, 2, 3, 7, 11, 12, 13, 4096])
  func `streams are searched while they are read, in pieces of any size`(text: String, chunk: Int)
    throws
  {
    let form = Form(boundary: boundary) { Part.stream("s") { OneByteSource(Array(text.utf8)) } }
    let inOnePiece = Form(boundary: boundary) {
      Part.stream("s") { ScriptedSource(Array(text.utf8)) }
    }
    for form in [form, inOnePiece] {
      let reader = try form.layout(verify: true).makeReader()
      #expect(failure { try drain(reader, chunk: chunk) }?.code == .boundaryCollision)
      #expect(failure { try drain(try form.layout().makeReader(), chunk: chunk) } == nil)
    }
  }

  @Test func `header lines are searched too`() throws {
    var headers = HTTPHeaders()
    headers.append("--frontier", "1")
    let part = Part(name: "a", headers: headers, body: .text(""))
    #expect(
      failure { try Form(boundary: boundary, parts: [part]).layout() }?.code == .boundaryCollision)
    let named = Part(name: "a--frontier", body: .text(""))
    #expect(
      failure { try Form(boundary: boundary, parts: [named]).layout() }?.code == .boundaryCollision)
    let fine = Part(name: "frontier", filename: "-frontier", body: .text(""))
    #expect(failure { try Form(boundary: boundary, parts: [fine]).layout() } == nil)
  }

  @Test func `the delimiter of an inner form can't contain the outer one`() throws {
    func nested(_ outer: String, _ inner: String) throws -> Form {
      let inside = Form(boundary: try Boundary(inner)) { Part.text("a", "1") }
      return Form(boundary: try Boundary(outer)) { Part.form("f", inside) }
    }
    #expect(failure { try nested("A", "A").layout() }?.code == .boundaryCollision)
    #expect(failure { try nested("A", "AB").layout() }?.code == .boundaryCollision)
    #expect(failure { try nested("AB", "A").layout() } == nil)
    // The last delimiter of the inner form ends with two hyphens: it was once not searched.
    #expect(failure { try nested("A--", "A").layout() }?.code == .boundaryCollision)
    #expect(failure { try nested("A-", "A").layout() }?.code == .boundaryCollision)
    #expect(failure { try nested("A-B", "A").layout() } == nil)
    #expect(failure { try nested("A---", "A").layout() } == nil)
    #expect(failure { try nested("A", "BA").layout() } == nil)
    #expect(failure { try nested("A", "B--A").layout() }?.code == .boundaryCollision)
  }

  @Test func `the parts of an inner form can contain neither its delimiter nor the outer one`()
    throws
  {
    for text in ["\n--inner", "--outer"] {
      let inner = Form(boundary: try Boundary("inner")) { Part.text("a", text) }
      let form = Form(boundary: try Boundary("outer")) { Part.form("f", inner) }
      #expect(failure { try form.layout() }?.code == .boundaryCollision)
      let stream = Form(boundary: try Boundary("inner")) {
        Part.stream("a") { ScriptedSource(Array(text.utf8)) }
      }
      let streamed = try Form(boundary: Boundary("outer")) { Part.form("f", stream) }
        .layout(verify: true)
      #expect(failure { try streamed.bytes(limit: 4096) }?.code == .boundaryCollision)
    }
    // After the inner form, its delimiter is ordinary text.
    let inner = Form(boundary: try Boundary("inner")) { Part.text("a", "1") }
    let form = Form(boundary: try Boundary("outer")) {
      Part.form("f", inner)
      Part.text("b", "--inner")
    }
    #expect(failure { try form.layout() } == nil)
  }
}
