import FormStreamJSON
import Testing

/// The members of an object, without a value made of each.
@Suite struct JSONMembersTests {
  private static let value: JSONValue = [
    "schema": "a/1", "number": -17, "fraction": .fraction(rounding: 1.5), "none": .null, "yes": true,
    "text": "\"}{][,:\\\u{1F}é", "list": ["}", ["]"], [:]], "object": ["code": "x\\", "inner": []],
    "empty": "",
  ]

  private static func line(_ value: JSONValue) -> [UInt8] { value.line().dropLast() }

  private static func read(
    _ bytes: [UInt8]
  ) -> (members: [(key: String, value: String)], isComplete: Bool) {
    bytes.withUnsafeBytes { bytes in
      var members = JSONMembers(of: bytes)
      var found: [(key: String, value: String)] = []
      while let member = members.next() {
        found.append(
          (String(decoding: member.key, as: UTF8.self), String(decoding: member.value, as: UTF8.self)))
      }
      return (found, members.isComplete)
    }
  }

  @Test func `members are in the places where the writer put them`() throws {
    let (members, isComplete) = Self.read(Self.line(Self.value))
    #expect(isComplete)
    guard case .object(let expected) = Self.value else { return }
    #expect(members.map(\.key) == expected.map(\.key))
    for (member, expected) in zip(members, expected) {
      #expect(member.value == String(decoding: Self.line(expected.value), as: UTF8.self))
    }
  }

  @Test func `texts and numbers are read, and what has escapes is no text`() {
    let line = Self.line(["a": "plain", "b": "\n", "c": 12, "d": .null])
    line.withUnsafeBytes { bytes in
      var members = JSONMembers(of: bytes)
      let first = members.next()
      #expect(first?.hasText("plain", for: "a") == true)
      #expect(first?.hasText("plain", for: "b") == false)
      #expect(members.next()?.text == nil)
      let third = members.next()
      #expect(third?.number == 12 && third?.text == nil)
      let last = members.next()
      #expect(last?.number == nil && last?.value.spells("null") == true)
    }
  }

  /// A disk that loses bytes cuts lines, and joins them.
  @Test func `an object that is cut or joined to another is not complete`() {
    let line = Self.line(Self.value)
    for end in 0..<line.count {
      #expect(!Self.read(Array(line[..<end])).isComplete, "\(end)")
      #expect(!Self.read(Array(line[...end] + line)).isComplete, "\(end)")
    }
  }

  @Test(arguments: ["", "{", "}", "[]", "null", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,}", "{\"a\":1 }", "{\"a\":\"\u{1}\"}"])
  func `what the writer would not write is not complete`(_ text: String) {
    #expect(!Self.read(Array(text.utf8)).isComplete)
  }

  @Test func `an empty object is complete`() {
    #expect(Self.read(Array("{}".utf8)).isComplete)
  }
}
