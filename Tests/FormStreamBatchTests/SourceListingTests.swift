import Glibc
import FormStreamBatch
import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// Paths that are named, and lists of paths.
@Suite struct SourceListingTests {
  private let tree: TemporaryDirectory

  init() throws { tree = try TemporaryDirectory() }

  @Test func `a named path that can't be sent is an error before anything is listed`() throws {
    try makeFIFO(tree.local("fifo"))
    let fine = BatchSource.path(try tree.make("a"))
    for (name, shown, code): (String, String, BatchError.Code) in [
      ("missing", "missing", .inputMissing), ("fifo", "fifo", .notAFile),
      ("a/b", "b", .inputMissing), ("nul\0", #"nul\u{0}"#, .inputMissing),
    ] {
      let path = tree.local(name)
      let error = #expect(throws: BatchError.self) { try FileListing([fine, .path(path)]) }
      #expect(error?.code == code)
      #expect(error?.description.contains(shown) == true)

      var options = ListingOptions()
      options.keepsGoing = true
      let files = try listed([.path(path), fine], options)
      #expect(files.map(\.problem?.code) == [code, nil])
      #expect(files.map(\.index) == [0, 1])
    }
  }

  @Test func `a named file is listed even if it is hidden or excluded`() throws {
    try tree.make(".hidden")
    var options = ListingOptions()
    options.excludes = [try NamePattern("*")]
    let file = try #require(try listed([.path(tree.local(".hidden"))], options).first)
    #expect(file.relative == ".hidden")
    #expect(file.path == tree.local(".hidden"))
  }

  @Test func `a named link is a file of its own, or the directory that it leads to`() throws {
    try tree.make("a/b", size: 7)
    try makeSymlink(tree.local("file"), to: "a/b")
    try makeSymlink(tree.local("directory"), to: "a")
    let files = try ["file", "directory"].flatMap { try listed([.path(tree.local($0))]) }
    #expect(files.map(\.relative) == ["file", "b"])
    #expect(files.map(\.size) == [7, 7])
    #expect(files.allSatisfy { $0.problem == nil })
  }

  @Test func `a list has one path a line, or a NUL after each`() throws {
    try tree.make("a b")
    try writeFile(LocalPath(bytes: Array("\(tree.path)/".utf8) + [0xFF, 0x0A, 0x80]), [1])
    let lines = "\n\(tree.path)/a b\n\n"
    #expect(try listed([.text(lines)]).map(\.path) == [tree.local("a b")])
    #expect(try listed([.text("\(tree.path)/a b")]).count == 1)
    let zeros =
      Array("\(tree.path)/a b\0\(tree.path)/".utf8) + [0xFF, 0x0A, 0x80] + Array("\0\0".utf8)
    let files = try listed([.text(zeros, ending: .nul)])
    #expect(files.map(\.path.bytes.last) == [UInt8(ascii: "b"), 0x80])
    #expect(files.allSatisfy { $0.problem == nil })
  }

  @Test func `an entry of a list that can't be sent is listed with the reason`() throws {
    try tree.make("a")
    try makeFIFO(tree.local("fifo"))
    try makeSymlink(tree.local("link"), to: "a")
    try makeDirectory(tree.local("directory"))
    try makeSymlink(tree.local("up"), to: "directory/..")
    func codes(_ text: String, followsLinks: Bool = false) throws -> [BatchError.Code?] {
      var options = ListingOptions()
      options.followsLinks = followsLinks
      return try listed([.text(text)], options).map(\.problem?.code)
    }
    let root = tree.path
    #expect(try codes("\(root)/missing\n\(root)/a") == [.inputMissing, nil])
    #expect(try codes("\(root)/fifo\n\(root)/link") == [.notAFile, .notAFile])
    #expect(try codes("\(root)/link", followsLinks: true) == [nil])
    #expect(try codes("\(root)/./link", followsLinks: true) == [nil])
    #expect(try codes("\(root)/./up/a") == [.notAFile])
    #expect(try codes("\(root)/./up/a", followsLinks: true) == [nil])
    #expect(try codes("\(root)/./../x\n\(root)/directory/./../a") == [.outsideRoot, .outsideRoot])
    #expect(try codes("\(root)/./directory/../a\n\(root)/./directory/../../a") == [nil, .outsideRoot])
    #expect(try codes("\(root)/a\0b") == [.inputMissing])

    // As find names them; only files are meant.
    let listing = try FileListing([.text("\(root)\n\(root)/directory\n.\n./\n")])
    #expect(try listing.next() == nil)
    #expect(listing.leftOut.directories == 4)
  }

  /// Regression: an entry failed once in a while, if another program renamed files anywhere.
  @Test func `an entry is found through a parent directory while others are renamed`() throws {
    try tree.make("a")
    try makeDirectory(tree.local("directory"))
    try makeSymlink(tree.local("up"), to: "directory/..")
    let names = [tree.path("x"), tree.path("y")]
    try tree.make("x")
    let isOver = Guarded(false)
    let hasEnded = AutoResetEvent()
    let isStarted = startThread("renames") {
      while !isOver.withLock({ $0 }) {
        rename(names[0], names[1])
        rename(names[1], names[0])
      }
      hasEnded.signal()
    }
    #expect(isStarted)
    var options = ListingOptions()
    options.followsLinks = true
    for number in 0..<5000 { try tree.make("n\(number)") }
    let lines = (0..<5000).map { "\(tree.path)/./up/n\($0)\n" }.joined()
    let files = try listed([.text(lines)], options)
    isOver.withLock { $0 = true }
    hasEnded.wait(atMost: nil)
    #expect(files.count == 5000)
    #expect(files.count { $0.problem != nil } == 0)
  }

  @Test func `patterns apply to lists`() throws {
    try tree.make("a.txt")
    try tree.make("b.jpg")
    var options = ListingOptions()
    options.excludes = [try NamePattern("*.jpg")]
    let files = try listed([.text("\(tree.path)/a.txt\n\(tree.path)/b.jpg\n")], options)
    #expect(files.map(\.relative.lastComponent) == ["a.txt"])
  }

  @Test func `a list that can't be read is an error, after the entries before it`() throws {
    let path = try tree.make("a")
    let missing = #expect(throws: BatchError.self) {
      try FileListing([.list(tree.local("missing"), ending: .nul)])
    }
    #expect(missing?.code == .listUnreadable)

    let tooLong = Array("\(path)\n".utf8) + [UInt8](repeating: 0x61, count: 200_000)
    let listing = try FileListing([.text(tooLong)])
    #expect(try listing.next()?.path == path)
    let error = #expect(throws: BatchError.self) { try listing.next() }
    #expect(error?.code == .listMalformed)
  }

  @Test func `the first files of a list without an end are listed`() throws {
    let listing = try FileListing([
      .list(name: "The list", ending: .lineFeed) { CountingSource() }
    ])
    for number in 0..<10_000 {
      #expect(try listing.next()?.path == LocalPath("/missing/\(number)"))
    }
  }

  @Test func `where a path leads is told by rsync's marker`() throws {
    struct Row {
      let path: LocalPath
      let root: LocalPath?
      let relative: LocalPath
      init(_ path: LocalPath, _ root: LocalPath?, _ relative: LocalPath) {
        (self.path, self.root, self.relative) = (path, root, relative)
      }
    }
    for row in [
      Row("a", ".", "a"), Row("./a", ".", "a"), Row(".//a", ".", "a"), Row("././a", ".", "a"),
      Row("a/b", ".", "a/b"), Row("a//b", ".", "a//b"), Row("-a", ".", "-a"),
      Row("/a/b", nil, "/a/b"), Row("/a/./b/c", "/a", "b/c"), Row("/./b", "/", "b"),
      Row("a/./b/./c", "a/b", "c"), Row("a/././b", "a", "b"), Row("/././b", "/", "b"),
      Row("../a", "..", "a"), Row("../../a/b", "../..", "a/b"),
      Row("..//a", "..", "a"), Row("...", ".", "..."), Row("..a", ".", "..a"),
      Row("a..", ".", "a.."),
    ] {
      let file = try #require(try placed(row.path))
      #expect(file.root == row.root, "\(row.path)")
      #expect(file.relative == row.relative, "\(row.path)")
    }
  }

  /// Where a manifest's entry leads.
  private func placed(_ path: LocalPath) throws -> BatchFile? {
    var encoder = ManifestEncoder(root: nil)
    var file = BatchFile(path: path)
    file.manifestPath = path
    let manifest = try tree.write("m", encoder.header + encoder.line(for: file))
    return try ManifestReader(manifest).next()
  }
}

/// Returns another path each time, and has no end.
private final class CountingSource: ByteSource {
  private var count = 0

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    let bytes = Array("/missing/\(count)\n".utf8)
    count += 1
    buffer.copyBytes(from: bytes)
    return bytes.count
  }

  func close() {}
}
