import Dispatch
import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// Files that may grow while they are sent: what they had at the start is sent.
@Suite struct GrowingFileTests {
  private static let size = 300_000
  private let directory: TemporaryDirectory
  init() throws { directory = try TemporaryDirectory() }

  private func layout(
    _ growth: FileGrowth, range: FileRange? = nil, size: Int = size
  ) throws -> BodyLayout {
    let path = try directory.write("log", noise(size))
    return try PartBody.file(path, range: range, growing: growth).layout()
  }

  private func change(_ change: FileChange, size: Int = size) throws {
    try change.apply(to: directory.local("log"), size: size)
  }

  @Test(arguments: [FileGrowth.allowed, .compared])
  func `growing is no change, before a file is opened and while it is read`(
    growth: FileGrowth
  ) throws {
    let layout = try layout(growth)
    #expect(layout.contentLength == Int64(Self.size))
    try change(.grow)
    let reader = layout.makeReader()
    var body: [UInt8] = []
    for size in 1...100 {
      body += try reader.read(upTo: 1000)
      try change(.grow, size: Self.size + size)
    }
    body += try drain(reader, chunk: 65_536)
    #expect(body == noise(Self.size))
    // Another attempt sends the same.
    try change(.grow, size: Self.size + 200)
    #expect(try drain(layout.makeReader(), chunk: 4096) == noise(Self.size))
  }

  @Test(
    arguments: [FileGrowth.allowed, .compared],
    [(FileChange.shrink, SourceChange.shrunk), (.rewrite, .rewritten)])
  func `everything else is a change`(
    growth: FileGrowth, made: (change: FileChange, seen: SourceChange)
  ) throws {
    for read in [0, 1, 100_000] {
      let layout = try layout(growth)
      let reader = layout.makeReader()
      while reader.position < read { _ = try reader.read(upTo: read - Int(reader.position)) }
      try change(made.change)
      let error = failure { try drain(reader, chunk: 1000) }
      #expect(error?.code == .sourceChanged)
      #expect(error?.change == made.seen)
      #expect(!reader.isAtEnd)
    }
  }

  @Test(arguments: [FileGrowth.allowed, .compared])
  func `a file that shrinks after it has grown is a change, too`(growth: FileGrowth) throws {
    let layout = try layout(growth)
    try change(.grow, size: Self.size + 5000)
    let reader = layout.makeReader()
    _ = try reader.read(upTo: 10)
    try change(.shrink, size: Self.size + 1000)
    let error = failure { try drain(reader, chunk: 1000) }
    #expect(error?.change == .shrunk)
    #expect(error?.description.contains("\(Self.size + 5001) to \(Self.size + 999)") == true)
  }

  /// Each reader began with what the file was when it was laid out.
  @Test(arguments: [FileGrowth.allowed, .compared])
  func `what one reader has seen of a file, the next one knows`(growth: FileGrowth) throws {
    for made in [FileChange.shrink, .rewrite] {
      let layout = try layout(growth)
      try change(.grow, size: Self.size + 5000)
      #expect(try drain(layout.makeReader(), chunk: 4096) == noise(Self.size))
      // It is still longer than what is sent.
      try change(made, size: Self.size + (made == .shrink ? 1000 : 5001))
      let error = failure { try drain(layout.makeReader(), chunk: 4096) }
      let seen = made == .shrink ? SourceChange.shrunk : .rewritten
      #expect(error?.change == seen)
      // A change is one for all readers after it, too.
      #expect(failure { try drain(layout.makeReader(), chunk: 4096) }?.change == seen)
    }
  }

  @Test(arguments: [FileGrowth.allowed, .compared])
  func `several readers at a time may see a file grow`(growth: FileGrowth) throws {
    let layout = try layout(growth)
    let writer = try RunningProgram(
      program: "/bin/sh",
      rawArguments: ["-c", "echo go; while :; do echo x >> log; done"].map { Array($0.utf8) },
      in: directory)
    _ = try writer.line()
    let expected = noise(Self.size)
    let wrong = Guarded<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      for _ in 0..<3 {
        do {
          let body = try drain(layout.makeReader(), chunk: 65_536)
          if body != expected { wrong.withLock { $0.append("other bytes") } }
        } catch {
          wrong.withLock { $0.append("\(error)") }
        }
      }
    }
    #expect(wrong.withLock { $0 } == [])
  }

  /// It was searched for in other bytes than those that were sent.
  @Test func `a file that was searched for the boundary is sent with those bytes`() throws {
    let path = try directory.write("log", noise(Self.size))
    let form = Form(boundary: try Boundary("B")) {
      Part(name: "log", body: .file(path, growing: true))
    }
    let layout = try form.layout(verify: true)
    let complete = try layout.bytes(limit: 1 << 20)
    try change(.grow)
    #expect(try layout.bytes(limit: 1 << 20) == complete)
    try writeFile(path, Array("\r\n--B\r\n".utf8) + noise(Self.size + 1000))
    let reader = layout.makeReader()
    #expect(failure { try drain(reader, chunk: 1000) }?.change == .rewritten)
    #expect(!reader.isAtEnd)
  }

  @Test(arguments: [FileGrowth.allowed, .compared])
  func `another file under the name is a change`(growth: FileGrowth) throws {
    let layout = try layout(growth)
    try change(.renameOver)
    #expect(failure { try layout.bytes(limit: 1 << 20) }?.change == .replaced)
  }

  /// The times can't tell this from growing.
  @Test func `what is overwritten while the file grows is noticed if the bytes are compared`()
    throws
  {
    for position in [0, 1, 150_000, Self.size - 1] {
      let layout = try layout(.compared)
      let reader = layout.makeReader()
      _ = try reader.read(upTo: 1)
      try change(.grow)
      try overwrite(position, with: noise(Self.size)[position] == 1 ? 2 : 1)
      let error = failure { try drain(reader, chunk: 1000) }
      // A byte that was read before the change was the right one.
      if position == 0 {
        #expect(error == nil)
      } else {
        #expect(error?.change == .rewritten, "\(position)")
        #expect(!reader.isAtEnd)
      }
      #expect(failure { try layout.bytes(limit: 1 << 20) }?.change == .rewritten)
    }
  }

  private func overwrite(_ position: Int, with byte: UInt8) throws {
    let result = try run(
      program: "/bin/sh",
      [
        "-c",
        "printf '\\\(String(byte, radix: 8))' | dd of=log bs=1 seek=\(position) conv=notrunc 2> none",
      ], in: directory)
    #expect(result.exit == 0, "\(result.stderr)")
  }

  @Test(arguments: [FileGrowth.allowed, .compared])
  func `a range of a growing file is that range`(growth: FileGrowth) throws {
    let layout = try layout(growth, range: FileRange(offset: 10, length: 5000))
    try change(.grow)
    let reader = layout.makeReader()
    #expect(try drain(reader, chunk: 999) == Array(noise(Self.size)[10..<5010]))
    try reader.seek(to: 4000)
    #expect(try drain(reader, chunk: 999) == Array(noise(Self.size)[4010..<5010]))
    // The end is the one at the start.
    let rest = try self.layout(growth, range: FileRange(offset: 10))
    try change(.grow)
    #expect(try rest.bytes(limit: 1 << 20) == Array(noise(Self.size)[10...]))
  }

  @Test(arguments: [FileGrowth.allowed, .compared])
  func `an empty file that grows is sent as an empty one`(growth: FileGrowth) throws {
    let layout = try layout(growth, size: 0)
    try change(.grow, size: 0)
    #expect(layout.contentLength == 0)
    #expect(try drain(layout.makeReader(), chunk: 10) == [])
    // Files of the kernel have a size of 0 and don't grow. To compare it, a file is read when it is laid out.
    let error = failure {
      let kernel = try PartBody.file("/proc/self/status", growing: growth).layout()
      _ = try drain(kernel.makeReader(), chunk: 10)
    }
    #expect(error?.description.contains("through a pipe") == true)
  }

  /// A file that is written to all the time could not be laid out.
  @Test func `a file that another program writes to all the time is sent`() throws {
    let path = try directory.write("log", noise(Self.size))
    let writer = try RunningProgram(
      program: "/bin/sh",
      rawArguments: ["-c", "echo go; while :; do echo x >> log; done"]
        .map { Array($0.utf8) }, in: directory)
    _ = try writer.line()
    for growth in [FileGrowth.allowed, .compared] {
      for _ in 0..<10 {
        let layout = try PartBody.file(path, growing: growth).layout()
        let body = try drain(layout.makeReader(), chunk: 4096)
        #expect(body.prefix(Self.size).elementsEqual(noise(Self.size)))
        #expect(Int64(body.count) == layout.contentLength)
      }
    }
  }
}
