import FormStream
import FormStreamTestSupport
import Foundation
import Testing

/// A parser is for one body. A second body was once a form without parts, and no error.
@Suite struct UsedParserTests {
  private static let body = Array(
    "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--B--\r\n".utf8)

  private var stream: InputStream { InputStream(data: Data(Self.body)) }

  /// How a parser is used.
  enum Use: CaseIterable, Sendable {
    case collect, parse, events, feed, begun, empty, failed
  }

  /// Uses a parser; returns the number of parts.
  private func use(_ parser: FormParser, _ use: Use) async throws -> Int {
    var count = 0
    let handle: (FormParser.Event) -> Void = { if case .partBegan = $0 { count += 1 } }
    switch use {
    case .collect: return try CollectedForm(reading: stream, with: parser, limit: 100).parts.count
    case .parse: try parser.parse(stream, to: handle)
    case .events:
      let chunks = AsyncStream<[UInt8]> { continuation in
        continuation.yield(Self.body)
        continuation.finish()
      }
      for try await event in FormEvents(of: chunks, parser: parser) {
        if case .partBegan = event { count += 1 }
      }
    case .feed:
      try Self.body.withUnsafeBytes { try parser.feed($0, to: handle) }
      while let event = try parser.finish() { handle(event) }
    case .begun:
      try Self.body.withUnsafeBytes { try parser.feed(.init(rebasing: $0[..<9]), to: handle) }
    case .empty: _ = try? parser.parse(InputStream(data: Data()), to: handle)
    case .failed:
      let wrong = InputStream(data: Data("--B\r\n: x\r\n\r\n".utf8))
      _ = try? parser.parse(wrong, to: handle)
    }
    return count
  }

  @Test(arguments: Use.allCases, [Use.collect, .parse, .events])
  func `a parser that was used parses no other body`(first: Use, second: Use) async throws {
    let parser = try FormParser(boundary: "B")
    _ = try await use(parser, first)
    let error = await #expect(throws: MultipartError.self) { _ = try await use(parser, second) }
    if ![.empty, .failed].contains(first) {
      #expect(error?.code.rawValue == "parser-used")
      #expect(error?.description.contains("new parser") == true)
    }
  }

  @Test(arguments: [Use.collect, .parse, .events, .feed])
  func `a parser is fed nothing after its end`(_ first: Use) async throws {
    let parser = try FormParser(boundary: "B")
    #expect(try await use(parser, first) == 1)
    let error = #expect(throws: MultipartError.self) {
      try Self.body.withUnsafeBytes { try parser.feed($0) { _ in } }
    }
    #expect(error?.code.rawValue == "parser-used")
  }

  @Test func `events are passed over once`() async throws {
    let chunks = AsyncStream<[UInt8]> { continuation in
      continuation.yield(Self.body)
      continuation.finish()
    }
    let events = FormEvents(of: chunks, parser: try FormParser(boundary: "B"))
    var count = 0
    for try await _ in events { count += 1 }
    #expect(count == 4)
    let error = await #expect(throws: MultipartError.self) { for try await _ in events {} }
    #expect(error?.code.rawValue == "parser-used")
  }

  @Test func `an early read leaves no error behind`() throws {
    let stream = FormInputStream(try Form { Part.text("a", "b") }.layout())
    var buffer = [UInt8](repeating: 0, count: 1000)
    #expect(stream.read(&buffer, maxLength: 1000) == -1)
    #expect((stream.streamError as? MultipartError)?.code == .notOpen)
    stream.open()
    #expect(stream.streamError == nil)
    #expect(stream.read(&buffer, maxLength: -1) == -1)
    #expect(stream.streamError != nil)
    #expect(stream.read(&buffer, maxLength: 1000) > 0)
    #expect(stream.streamError == nil)
    #expect(stream.streamStatus == .atEnd)
  }
}
