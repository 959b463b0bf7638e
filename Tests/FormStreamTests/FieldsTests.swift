import FormStream
import Foundation
import FormStreamTestSupport
import Testing

/// Values as fields, and as JSON.
@Suite struct FieldsTests {
  private func fields(_ value: some Encodable, _ nesting: FieldNesting = .brackets) throws
    -> [String]
  {
    try Part.fields(of: value, nesting: nesting).map { part in
      let form = Form(boundary: try Boundary("B"), parts: [part])
      let text = String(decoding: try form.layout().bytes(limit: 1 << 20), as: UTF8.self)
      let content = text.dropFirst("--B\r\nContent-Disposition: form-data; name=".count)
        .dropLast("\r\n--B--\r\n".count)
      return String(content.replacing("\r\n\r\n", with: "=", maxReplacements: 1))
    }
  }

  private struct Place: Encodable {
    var city: String
    var zip: Int?
  }

  private struct Photo: Encodable {
    enum Kind: String, Encodable { case raw, jpeg = "JPEG" }
    var title = "Sun & \"sea\""
    var tags = ["a", "b"]
    var place = Place(city: "Rome", zip: nil)
    var others = [Place(city: "X", zip: 1), Place(city: "Y", zip: nil)]
    var matrix = [[1, 2], [], [3]]
    var note: String?
    var isPublic = true
    var rating = 4.5
    var size = Int64.max
    var kind = Kind.jpeg
    var holes: [Int?] = [1, nil, 3]
    var empty: [String] = []
  }

  @Test func `properties are fields in their order, nested in brackets or with dots`() throws {
    #expect(
      try fields(Photo()) == [
        "\"title\"=Sun & \"sea\"", "\"tags\"=a", "\"tags\"=b", "\"place[city]\"=Rome",
        "\"others[0][city]\"=X", "\"others[0][zip]\"=1", "\"others[1][city]\"=Y", "\"matrix[0]\"=1",
        "\"matrix[0]\"=2", "\"matrix[2]\"=3", "\"isPublic\"=true", "\"rating\"=4.5",
        "\"size\"=9223372036854775807", "\"kind\"=JPEG", "\"holes\"=1", "\"holes\"=3",
      ])
    let dotted = try fields(Photo(), .dots)
    #expect(
      dotted[3...6] == [
        "\"place.city\"=Rome", "\"others[0].city\"=X", "\"others[0].zip\"=1",
        "\"others[1].city\"=Y",
      ])
  }

  @Test func `the keys of dictionaries are in order, and hostile ones are escaped`() throws {
    let keys = ["b": 2, "a\"\r\nX: y": 1, "": 0, "é": 3]
    #expect(
      try fields(keys) == ["\"\"=0", "\"a%22%0D%0AX: y\"=1", "\"b\"=2", "\"é\"=3"])
    #expect(
      try fields(["d": ["z": [1, 2], "y": [3]]]) == ["\"d[y]\"=3", "\"d[z]\"=1", "\"d[z]\"=2"])
  }

  private struct Tag: Codable, CodingKeyRepresentable, Hashable {
    var name: String
    var codingKey: any CodingKey { name.codingKey }
    init(_ name: String) { self.name = name }
    init?<Key: CodingKey>(codingKey: Key) { name = codingKey.stringValue }
  }

  private enum Level: Int, Encodable, CodingKeyRepresentable { case ten = 10, two = 2 }

  @Test func `the keys of dictionaries are in order if they are numbers or other keys, too`() throws {
    let numbers = Dictionary(uniqueKeysWithValues: (-50..<150).map { ($0, $0) })
    #expect(try fields(numbers) == (-50..<150).map { "\"\($0)\"=\($0)" })
    #expect(try fields([Level.ten: 1, .two: 2]) == ["\"2\"=2", "\"10\"=1"])
    let letters = (0..<26).map { String(UnicodeScalar(97 + $0)) }
    let tags = Dictionary(uniqueKeysWithValues: letters.map { (Tag($0), 1) })
    #expect(try fields(["t": tags]) == letters.map { "\"t[\($0)]\"=1" })
    #expect(try fields(["10": 1, "9": 2]) == ["\"10\"=1", "\"9\"=2"])
  }

  @Test func `a dictionary whose keys are no names is an error`() throws {
    struct Key: Encodable, Hashable { var id: Int }
    let error = failure { try Part.fields(of: ["d": [Key(id: 1): "a"]]) }
    #expect(error?.code == .notEncodable)
    #expect(error?.subject == "d")
    #expect(error?.description.contains("Key") == true)
    #expect(failure { try Part.fields(of: [Key(id: 1): "a"]) }?.code == .notEncodable)
    #expect(try fields(["d": [Key: String]()]) == [])
  }

  @Test func `the elements of sets are in order if they have one`() throws {
    let letters = (0..<26).map { String(UnicodeScalar(97 + $0)) }
    #expect(try fields(["s": Set(letters)]) == letters.map { "\"s\"=\($0)" })
    #expect(try fields(["s": Set(0..<200)]) == (0..<200).map { "\"s\"=\($0)" })
  }

  @Test func `dates, data, URLs and decimals are what JSON makes of them`() throws {
    struct Values: Encodable {
      var date = Date(timeIntervalSinceReferenceDate: 86_400)
      var data = Data([0, 255])
      var url = URL(string: "https://example.org/a b")
      var decimal = Decimal(string: "1234567890.0123456789")
    }
    #expect(
      try fields(Values()) == [
        "\"date\"=86400.0", "\"data\"=AP8=", "\"url\"=https://example.org/a%20b",
        "\"decimal\"=1234567890.0123456789",
      ])
  }

  @Test func `a class and its superclass are encoded as in JSON`() throws {
    class Base: Encodable { var a = 1 }
    final class Derived: Base {
      enum Keys: CodingKey { case b }
      override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        try container.encode(2, forKey: .b)
        try super.encode(to: container.superEncoder())
      }
    }
    #expect(try fields(Derived()) == ["\"b\"=2", "\"super[a]\"=1"])
  }

  @Test func `a value without names is an error`() {
    for value: any Encodable in [1, "text", [1, 2], [["a": 1]], Optional(3)] {
      #expect(failure { try Part.fields(of: value) }?.code == .notEncodable, "\(value)")
    }
    #expect(failure { try Part.fields(of: [Int]()) } == nil)
    #expect(failure { try Part.fields(of: Optional<Int>.none) } == nil)
  }

  @Test(arguments: [Double.nan, .infinity, -.infinity])
  func `a number that is not finite is an error`(_ number: Double) {
    let error = failure { try Part.fields(of: ["n": number]) }
    #expect(error?.code == .notEncodable)
    #expect(error?.subject == "n")
    #expect(failure { try Part.fields(of: ["n": Float(number)]) }?.code == .notEncodable)
  }

  @Test func `a value that contains itself, and one that is too deep, is an error`() throws {
    final class Node: Encodable {
      var next: Node?
    }
    let node = Node()
    node.next = node
    #expect(failure { try Part.fields(of: node) }?.code == .nestedTooDeep)
    node.next = nil
    struct Wrapper: Encodable {
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self)
      }
    }
    #expect(failure { try Part.fields(of: ["w": Wrapper()]) }?.code == .nestedTooDeep)
    var deepest = Node()
    for _ in 0..<31 {
      let outer = Node()
      outer.next = deepest
      deepest = outer
    }
    #expect(failure { try Part.fields(of: deepest) } == nil)
  }

  /// A value that is in itself, and does not leave it to the encoder to encode what is in it.
  private final class Cycle: Encodable {
    enum Way: CaseIterable {
      case textBeside, nothingBeside, nothingInList, nestedNothing, superInList, nestedText
    }
    enum Keys: CodingKey { case a, b }
    let way: Way
    init(_ way: Way) { self.way = way }

    func encode(to encoder: any Encoder) throws {
      switch way {
      case .textBeside:
        var value = encoder.singleValueContainer()
        try value.encode("text")
        var container = encoder.container(keyedBy: Keys.self)
        try encode(to: container.superEncoder())
      case .nothingBeside:
        var container = encoder.container(keyedBy: Keys.self)
        try container.encodeNil(forKey: .a)
        try encode(to: container.superEncoder(forKey: .b))
      case .nothingInList:
        var container = encoder.unkeyedContainer()
        try container.encodeNil()
        try encode(to: container.superEncoder())
      case .nestedNothing:
        var container = encoder.container(keyedBy: Keys.self)
        var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .a)
        try nested.encodeNil(forKey: .a)
        try encode(to: nested.superEncoder())
      case .superInList:
        var container = encoder.container(keyedBy: Keys.self)
        var nested = container.nestedUnkeyedContainer(forKey: .a)
        try nested.encode(1)
        try encode(to: nested.superEncoder())
      case .nestedText:
        var container = encoder.unkeyedContainer()
        var nested = container.nestedUnkeyedContainer()
        let inner = nested.superEncoder()
        var value = inner.singleValueContainer()
        try value.encodeNil()
        try encode(to: inner)
      }
    }
  }

  @Test(arguments: Cycle.Way.allCases)
  private func `a value that encodes itself through other encoders is an error`(_ way: Cycle.Way) {
    #expect(failure { try Part.fields(of: ["c": Cycle(way)]) }?.code == .nestedTooDeep)
  }

  @Test func `a value that throws keeps its error`() {
    struct Failing: Encodable {
      func encode(to encoder: any Encoder) throws { throw TestError(5) }
    }
    let error = failure { try Part.fields(of: Failing()) }
    #expect(error?.code == .notEncodable)
    #expect(error?.underlying as? TestError == TestError(5))
    #expect(failure { try Part.json("j", Failing()) }?.underlying as? TestError == TestError(5))
  }

  @Test func `many fields`() throws {
    let parts = try Part.fields(of: ["n": Array(0..<100_000)])
    #expect(parts.count == 100_000)
    #expect(parts.allSatisfy { $0.name == "n" })
  }

  @Test func `a value as JSON`() throws {
    let form = Form(
      boundary: try Boundary("B"), parts: [try .json("j", ["a": 1], filename: "j.json")])
    #expect(
      String(decoding: try form.layout().bytes(limit: 1000), as: UTF8.self)
        == "--B\r\nContent-Disposition: form-data; name=\"j\"; filename=\"j.json\"\r\n"
        + "Content-Type: application/json\r\n\r\n{\"a\":1}\r\n--B--\r\n")
  }

  @Test func `a layout makes streams on any thread`() async throws {
    let layout = try Form { Part.text("a", "1") }.layout()
    let make: @Sendable () -> FormInputStream = layout.makeInputStream
    let body = try layout.bytes(limit: 1000)
    for _ in 0..<2 {
      let read = try await onNewThread {
        let stream = make()
        stream.open()
        return try drain(stream, chunk: 7)
      }
      #expect(read == body)
    }
  }
}
