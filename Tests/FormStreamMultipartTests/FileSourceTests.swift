import Glibc
import FormStreamMultipart
import FormStreamTestSupport
import Testing

@Suite struct FileSourceTests {
  private let directory: TemporaryDirectory
  init() throws { directory = try TemporaryDirectory() }

  private func layOut(
    _ path: LocalPath, range: FileRange? = nil, _ accepted: AcceptedFiles = .any
  ) throws -> BodyLayout {
    try Form(boundary: Boundary("B")) {
      Part.file("a", path, type: MediaType("a/b"), range: range, accepting: accepted)
    }.layout()
  }

  /// The bytes of the one part.
  private func content(_ layout: BodyLayout) throws -> [UInt8] {
    let body = try layout.bytes(limit: 1 << 20)
    return Array(body[(Int(layout.placedPart(at: 0).bodyOffset ?? 0))...].dropLast(9))
  }

  private func refusal(
    _ path: LocalPath, range: FileRange? = nil, _ accepted: AcceptedFiles = .any
  ) -> MultipartError? {
    let error = failure { try layOut(path, range: range, accepted) }
    #expect(error?.subject == path.description)
    #expect(error?.description.contains("of part \"a\"") == true)
    return error
  }

  @Test func `a file that does not exist is missing`() throws {
    try directory.write("file", "1")
    #expect(refusal(directory.local("none"))?.code == .inputMissing)
    #expect(refusal(directory.local("none/none"))?.code == .inputMissing)
    #expect(refusal(directory.local("file/none"))?.code == .inputMissing)
    #expect(refusal("")?.code == .inputMissing)
    let error = refusal(directory.local("none"))?.underlying as? SystemError
    #expect(error?.description == "No such file or directory")
  }

  @Test func `a file whose status can't be read is reported as unreadable`() throws {
    // A name that is too long fails for root too.
    let name = String(repeating: "n", count: 300)
    #expect(refusal(directory.local(name))?.code == .inputUnreadable)
    try makeSymlink(directory.local("loop"), to: "loop")
    #expect(refusal(directory.local("loop"))?.code == .inputUnreadable)
  }

  @Test(.disabled(if: isSuperuser, "root may read everything"))
  func `a file without permission to read is unreadable when it is laid out`() throws {
    let path = try directory.write("secret", "1")
    setPermissions(path, 0)
    #expect(refusal(path)?.code == .inputUnreadable)
  }

  @Test func `directories, sockets and NULs are refused`() throws {
    #expect(refusal(LocalPath(directory.path))?.code == .notAFile)
    try makeSocket(directory.local("socket"))
    #expect(refusal(directory.local("socket"))?.code == .notAFile)
    try directory.write("a", "1")
    let nul = Form { Part.file("a", directory.local("a\0b"), filename: "f") }
    #expect(failure { try nul.layout() }?.code == .inputMissing)
  }

  @Test func `devices are streams if they are named, and refused if they are found`() throws {
    let layout = try layOut("/dev/null")
    #expect(layout.contentLength == nil)
    #expect(!layout.isReplayable)
    #expect(try content(layout) == [])
    #expect(refusal("/dev/null", .regularOnly)?.code == .notAFile)
    #expect(refusal("/dev/null", range: FileRange(offset: 0))?.code == .notAFile)
    let endless = try layOut("/dev/zero").makeReader()
    #expect(try drain(endless, atLeast: 1 << 20, chunk: 4096) >= 1 << 20)
  }

  private func drain(_ reader: BodyReader, atLeast count: Int, chunk: Int) throws -> Int {
    while reader.position < count { _ = try reader.read(upTo: chunk) }
    return Int(reader.position)
  }

  @Test func `a FIFO is one-shot if it is named, and refused if it is found`() throws {
    let path = directory.local("fifo")
    try makeFIFO(path)
    #expect(refusal(path, .regularOnly)?.code == .notAFile)
    #expect(refusal(path, range: FileRange(offset: 0))?.code == .notAFile)

    let layout = try layOut(path)
    #expect(layout.contentLength == nil)
    // The writer waits in open() for the reader, and the reader for the writer.
    let bytes = noise(100_000)
    runDetached { _ = try? writeFile(path, bytes) }
    #expect(try content(layout) == bytes)
    #expect(failure { try content(layout) }?.code == .notReplayable)
  }

  /// Two layouts, and two parts, could once read the same FIFO.
  @Test func `a FIFO can be read by one layout and one part`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.local("fifo")
    try makeFIFO(path)
    let form = Form { Part.file("f", path) }
    let (first, second) = (try form.layout(), try form.layout())
    runDetached { _ = try? writeFile(path, [1, 2, 3]) }
    #expect(failure { try first.bytes(limit: 4096) } == nil)
    #expect(failure { try second.bytes(limit: 4096) }?.code == .notReplayable)
    let twice = Form {
      Part.file("f", path)
      Part.file("g", path)
    }
    #expect(failure { try twice.layout() }?.code == .notReplayable)
  }

  @Test func `a closed descriptor can't be read, and an open one can't be used for two parts`()
    throws
  {
    let closed = Form { Part(name: "f", body: .descriptor(9999)) }
    #expect(failure { try closed.layout() }?.code == .inputUnreadable)
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    defer {
      close(ends[0])
      close(ends[1])
    }
    let twice = Form {
      Part(name: "f", body: .descriptor(ends[0]))
      Part(name: "g", body: .descriptor(ends[0]))
    }
    #expect(failure { try twice.layout() }?.code == .notReplayable)
  }

  @Test func `links are followed if they are named, and refused if they are found`() throws {
    try directory.write("file", "linked")
    try makeSymlink(directory.local("link"), to: "file")
    try makeSymlink(directory.local("dangling"), to: "none")
    #expect(try content(layOut(directory.local("link"))) == Array("linked".utf8))
    #expect(try layOut(directory.local("link")).placedPart(at: 0).part.filename == "link")
    #expect(refusal(directory.local("link"), .regularOnly)?.code == .notAFile)
    #expect(refusal(directory.local("dangling"))?.code == .inputMissing)
    #expect(refusal(directory.local("dangling"), .regularOnly)?.code == .notAFile)
    #expect(try content(layOut(directory.local("file"), .regularOnly)) == Array("linked".utf8))
  }

  @Test func `a found file that becomes a link before it is opened is refused`() throws {
    let path = try directory.write("file", "1")
    let layout = try layOut(path, .regularOnly)
    try directory.write("other", "1")
    try FileChange.unlink.apply(to: path, size: 1)
    try makeSymlink(path, to: "other")
    #expect(failure { try content(layout) }?.change == .replaced)
  }

  @Test func `a found file that is moved and replaced by a link to it is refused`() throws {
    let path = try directory.write("file", "1")
    let layout = try layOut(path, .regularOnly)
    #expect(rename(path.description, directory.path("moved")) == 0)
    try makeSymlink(path, to: "moved")
    // Through the link it is the same file, with a new change time.
    #expect(failure { try content(layout) }?.change == .replaced)
  }

  @Test func `a file that becomes a FIFO does not block the reader`() throws {
    let path = try directory.write("file", "1")
    let layout = try layOut(path)
    try FileChange.unlink.apply(to: path, size: 1)
    try makeFIFO(path)
    #expect(failure { try content(layout) }?.change == .replaced)
  }

  @Test func `a path that is not UTF-8 can be read, and its file name is repaired`() throws {
    let path = LocalPath(bytes: Array(directory.path("x").utf8) + [0xFF, 0xFE])
    try writeFile(path, "odd".utf8)
    let layout = try layOut(path)
    #expect(try content(layout) == Array("odd".utf8))
    #expect(layout.placedPart(at: 0).part.filename == "x\u{FFFD}\u{FFFD}")
  }

  @Test(arguments: [
    ("/a/b.txt", "b.txt"), ("b", "b"), ("/a/b/", "b"), ("/a//", "a"), ("/", ""), ("", ""),
    ("a\\b", "a\\b"),
  ])
  func `the file name is the last component of the path`(path: String, name: String) {
    #expect(LocalPath(path).lastComponent == name)
    #expect(Part.file("x", LocalPath(path)).filename == name)
  }

  @Test func `ranges within the file are sent`() throws {
    let path = try directory.write("file", "0123456789")
    #expect(try content(layOut(path, range: FileRange(offset: 0))) == Array("0123456789".utf8))
    #expect(try content(layOut(path, range: FileRange(offset: 4))) == Array("456789".utf8))
    #expect(try content(layOut(path, range: FileRange(offset: 4, length: 3))) == Array("456".utf8))
    #expect(try content(layOut(path, range: FileRange(offset: 10))) == [])
    #expect(try content(layOut(path, range: FileRange(offset: 10, length: 0))) == [])
    #expect(try content(layOut(path, range: FileRange(offset: 3, length: 0))) == [])
  }

  @Test(arguments: [
    FileRange(offset: 11), FileRange(offset: 0, length: 11), FileRange(offset: 10, length: 1),
    FileRange(offset: -1), FileRange(offset: -1, length: 1), FileRange(offset: 0, length: -1),
    FileRange(offset: .max), FileRange(offset: .max, length: .max),
    FileRange(offset: 1, length: .max), FileRange(offset: .min), FileRange(offset: .min, length: 1),
    FileRange(offset: 5, length: .min),
  ])
  func `ranges outside the file are refused`(range: FileRange) throws {
    let path = try directory.write("file", "0123456789")
    #expect(refusal(path, range: range)?.code == .rangeOutsideFile)
  }

  @Test func `a file that the kernel generates is not sent as empty`() throws {
    let layout = try layOut("/proc/cpuinfo")
    let error = try #require(failure { try content(layout) })
    #expect(error.code == .sourceChanged)
    #expect(error.change == .grown)
    #expect(error.subject == "/proc/cpuinfo")
  }

  @Test func `an empty file is sent, and changes to it are detected`() throws {
    let path = try directory.write("empty", "")
    let layout = try layOut(path)
    #expect(try content(layout) == [])
    try directory.write("empty", "no more")
    #expect(failure { try content(layout) }?.change == .grown)
  }
}
