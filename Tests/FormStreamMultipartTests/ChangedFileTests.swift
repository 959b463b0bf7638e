import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// A file that changed after it was laid out never becomes a complete body. The files are written
/// immediately before they are laid out: a change within the same tick of the kernel's clock would
/// not be seen if the layout did not wait.
@Suite struct ChangedFileTests {
  private static let size = 3000
  private let directory: TemporaryDirectory
  init() throws { directory = try TemporaryDirectory() }

  private func freshLayout(_ name: String, range: FileRange? = nil) throws -> BodyLayout {
    let path = try directory.write(name, noise(Self.size))
    return try Form(boundary: Boundary("B")) {
      Part.file("a", path, range: range)
      Part.text("z", "end")
    }.layout()
  }

  @Test(
    arguments: [
      (FileChange.shrink, SourceChange.shrunk), (.grow, .grown), (.rewrite, .rewritten),
      (.rewriteWithTimeSetBack, .rewritten), (.renameOver, .replaced), (.unlink, .replaced),
    ])
  func `a change before the file is opened is an error`(
    change: FileChange, expected: SourceChange
  ) throws {
    for round in 1...20 {
      let layout = try freshLayout("\(round)")
      try change.apply(to: directory.local("\(round)"), size: Self.size)
      let reader = layout.makeReader()
      let error = try #require(failure { try drain(reader, chunk: 65_536) }, "\(round)")
      #expect(error.code == .sourceChanged)
      #expect(error.change == expected)
      #expect(error.subject == directory.path("\(round)"))
      #expect(!reader.isAtEnd)
    }
  }

  @Test(
    arguments: [
      (FileChange.shrink, SourceChange.shrunk), (.grow, .grown), (.rewrite, .rewritten),
      (.rewriteWithTimeSetBack, .rewritten), (.renameOver, .replaced), (.unlink, .replaced),
    ])
  func `a change while the file is read is an error`(
    change: FileChange, expected: SourceChange
  ) throws {
    for round in 1...20 {
      let layout = try freshLayout("\(round)")
      let start = Int(try #require(layout.placedPart(at: 0).bodyOffset))
      let reader = layout.makeReader()
      // The rounds differ in how much was read before: from the first byte to all but the last.
      let read = start + 1 + (round - 1) * (Self.size - 2) / 19
      while reader.position < read { _ = try reader.read(upTo: read - Int(reader.position)) }
      try change.apply(to: directory.local("\(round)"), size: Self.size)
      let error = try #require(failure { try drain(reader, chunk: 512) }, "\(round)")
      #expect(error.code == .sourceChanged)
      #expect(error.change == expected)
      #expect(reader.position == Int64(read))
    }
  }

  @Test(arguments: FileChange.allCases)
  func `a change outside the range that is sent is an error too`(change: FileChange) throws {
    let layout = try freshLayout("f", range: FileRange(offset: 10, length: 20))
    try change.apply(to: directory.local("f"), size: Self.size)
    #expect(failure { try layout.bytes(limit: 1 << 20) }?.code == .sourceChanged)
  }

  @Test(arguments: FileChange.allCases)
  func `a change is detected after a seek past the beginning`(change: FileChange) throws {
    let layout = try freshLayout("f")
    let reader = layout.makeReader()
    try reader.seek(to: 2000)
    _ = try reader.read(upTo: 100)
    try change.apply(to: directory.local("f"), size: Self.size)
    try reader.seek(to: 1000)
    #expect(failure { try drain(reader, chunk: 100) }?.code == .sourceChanged)
    #expect(failure { try reader.seek(to: 0) }?.code == .sourceChanged)
  }

  @Test(arguments: FileChange.allCases)
  func `a change while files are searched for the boundary is detected when they are sent`(
    change: FileChange
  ) throws {
    let path = try directory.write("f", noise(Self.size))
    let layout = try Form { Part.file("a", path) }.layout(verify: true)
    try change.apply(to: path, size: Self.size)
    #expect(failure { try layout.bytes(limit: 1 << 20) }?.code == .sourceChanged)
  }

  @Test func `an unchanged file can be read by any number of readers`() throws {
    let layout = try freshLayout("f")
    let first = try layout.bytes(limit: 1 << 20)
    for _ in 1...10 { #expect(try layout.bytes(limit: 1 << 20) == first) }
  }

  @Test func `an empty file that was replaced by another empty file is an error`() throws {
    let path = try directory.write("empty", "")
    let layout = try Form { Part.file("a", path) }.layout()
    try FileChange.renameOver.apply(to: path, size: 0)
    #expect(failure { try layout.bytes(limit: 1000) }?.change == .replaced)
  }
}
