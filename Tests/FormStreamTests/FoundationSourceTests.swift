import FormStream
import Foundation
import FormStreamTestSupport
import Testing

@Suite struct FoundationSourceTests {
  private let directory: TemporaryDirectory
  init() throws { directory = try TemporaryDirectory() }

  /// The bytes of the one part.
  private func content(_ part: Part) throws -> [UInt8] {
    let layout = try Form(boundary: Boundary("B"), parts: [part]).layout()
    let body = try layout.bytes(limit: 1 << 20)
    return Array(body[Int(layout.placedPart(at: 0).bodyOffset ?? 0)...].dropLast(9))
  }

  @Test func `Data is bytes, in one piece, sliced or empty`() throws {
    let data = Data(noise(5000))
    #expect(try content(.bytes("a", data)) == Array(data))
    #expect(try content(.bytes("a", data[100..<4100])) == Array(data[100..<4100]))
    #expect(try content(.bytes("a", Data())) == [])
  }

  @Test func `other collections are bytes too, contiguous or not`() throws {
    let bytes = noise(3000)
    #expect(try content(.bytes("a", bytes[10...])) == Array(bytes[10...]))
    #expect(try content(.bytes("a", ContiguousArray(bytes))) == bytes)
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(try content(.bytes("a", text.utf8)) == bytes)
    #expect(try content(.bytes("a", Scattered(bytes))) == bytes)
  }

  /// A collection that is not contiguous.
  private struct Scattered: Collection {
    let pieces: [[UInt8]]
    init(_ bytes: [UInt8]) { pieces = bytes.map { [$0] } }
    var startIndex: Int { 0 }
    var endIndex: Int { pieces.count }
    func index(after index: Int) -> Int { index + 1 }
    subscript(index: Int) -> UInt8 { pieces[index][0] }
  }

  @Test func `a file URL names a file, even if its path is not UTF-8`() throws {
    let path = try directory.write("a b%ü.txt", "1")
    let url = URL(fileURLWithPath: path.description)
    #expect(try LocalPath(url) == path)
    let part = Part.file("a", url)
    #expect(part.filename == "a b%ü.txt")
    #expect(try content(part) == [UInt8(ascii: "1")])
  }

  @Test(arguments: ["http://example.org/a", "https://x/y", "data:,x"])
  func `other URLs are refused`(text: String) throws {
    let url = try #require(URL(string: text))
    let error = try #require(failure { try Form { Part.file("a", url) }.layout() })
    #expect(error.code == .notAFile)
    #expect(error.subject == text)
  }

  @Test func `an input stream of data or a file can be read several times`() throws {
    let bytes = noise(100_000)
    let path = try directory.write("f", bytes).description
    for length in [nil, 100_000] as [Int64?] {
      let data = PartBody.inputStream(length: length) { InputStream(data: Data(bytes)) }
      let file = PartBody.inputStream(length: length) { InputStream(fileAtPath: path) }
      for body in [data, file] {
        let part = Part(name: "a", body: body)
        #expect(try content(part) == bytes)
        #expect(try content(part) == bytes)
      }
    }
  }

  @Test func `an input stream that is nil, can't be opened or has another length is an error`()
    throws
  {
    let missing = directory.path("none")
    let bodies: [(PartBody, MultipartError.Code)] = [
      (.inputStream { nil }, .streamFailed),
      (.inputStream { InputStream(fileAtPath: missing) }, .streamFailed),
      (.inputStream(length: 4) { InputStream(data: Data([1, 2, 3])) }, .streamTooShort),
      (.inputStream(length: 2) { InputStream(data: Data([1, 2, 3])) }, .streamTooLong),
    ]
    for (body, code) in bodies {
      let error = failure { try content(Part(name: "a", body: body)) }
      #expect(error?.code == code)
      #expect(error?.subject == "a")
      if code == .streamFailed { #expect(error?.underlying != nil) }
    }
  }

  @Test func `a form that contains the stream of a form fails as the inner one does`() throws {
    let inner = try Form { Part.stream("s") { FailingSource(onCall: 2, with: TestError(5)) } }
      .layout()
    let part = Part(name: "a", body: .inputStream { FormInputStream(inner) })
    let error = try #require(failure { try content(part) })
    #expect(error.code == .streamFailed)
    let cause = try #require(error.underlying as? MultipartError)
    #expect(cause.underlying as? TestError == TestError(5))
  }
}
