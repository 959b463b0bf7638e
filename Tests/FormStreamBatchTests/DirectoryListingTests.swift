import Glibc
import FormStreamBatch
import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Testing

@Suite struct DirectoryListingTests {
  private let tree: TemporaryDirectory
  private let outside: TemporaryDirectory

  init() throws {
    tree = try TemporaryDirectory(inMemory: true)
    outside = try TemporaryDirectory(inMemory: true)
  }

  private var source: BatchSource { .path(LocalPath(tree.path)) }

  @Test func `each regular file is listed once, with its path, size and time`() throws {
    try tree.make("a", size: 3)
    try tree.make("b/c", size: 5)
    try tree.make("b/d/e", size: 0)
    try makeDirectory(tree.local("empty"))
    var times = [timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: 1_700_000_000, tv_nsec: 123)]
    utimensat(AT_FDCWD, tree.path("a"), &times, 0)

    let files = try listed([source]).sorted { $0.path.description < $1.path.description }
    #expect(files.map(\.relative) == ["a", "b/c", "b/d/e"])
    #expect(files.map(\.manifestPath) == ["a", "b/c", "b/d/e"])
    #expect(files.map(\.path) == ["a", "b/c", "b/d/e"].map { tree.local($0) })
    #expect(files.map(\.size) == [3, 5, 0])
    #expect(files[0].modified == 1_700_000_000_000_000_123)
    #expect(files.allSatisfy { $0.root == LocalPath(tree.path) && $0.problem == nil })
    #expect(Set(files.map(\.index)) == [0, 1, 2])
    var status = stat()
    stat(tree.path("b/c"), &status)
    #expect(files[1].identity?.inode == UInt64(status.st_ino))
  }

  @Test func `names are bytes`() throws {
    let hostile: [[UInt8]] =
      [
        " ", "-rf", "a\nb", "\"'`$", "a;b,c", "@x", "<x", "*", "?", "[", "\\", "..a", "é",
        "e\u{301}",
      ]
      .map { Array($0.utf8) } + [
        [0xFF], [0xC3, 0x28], [1, 0x7F], [UInt8](repeating: 0x61, count: 255),
      ]
    for name in hostile { try writeFile(LocalPath(bytes: Array("\(tree.path)/".utf8) + name), [1]) }
    var options = ListingOptions()
    options.includesHidden = true
    let found = try listed([source], options)
    #expect(Set(found.map(\.relative.bytes)) == Set(hostile))
    #expect(found.allSatisfy { $0.problem == nil })
  }

  @Test func `hidden files, links and special files are left out and counted`() throws {
    try tree.make("a")
    try tree.make(".hidden")
    try tree.make(".git/b")
    try makeSymlink(tree.local("link"), to: tree.local("a"))
    try makeFIFO(tree.local("fifo"))
    try makeSocket(tree.local("socket"))
    let listing = try FileListing([source])
    #expect(try listing.next()?.relative == "a")
    #expect(try listing.next() == nil)
    var expected = LeftOutEntries()
    (expected.hidden, expected.links, expected.special) = (2, 1, 2)
    #expect(listing.leftOut == expected)
    #expect(try names(tree) { $0.includesHidden = true } == [".git/b", ".hidden", "a"])
  }

  @Test func `a link is followed inside of the root, and never out of it`() throws {
    try tree.make("a")
    try tree.make("b/c")
    try outside.make("secret")
    try makeSymlink(tree.local("file"), to: "a")
    try makeSymlink(tree.local("directory"), to: "b")
    try makeSymlink(tree.local("b/up"), to: "../a")
    try makeSymlink(tree.local("out"), to: outside.local("secret"))
    try makeSymlink(tree.local("outs"), to: LocalPath(outside.path))
    try makeSymlink(tree.local("passwd"), to: "../../../../../../etc/passwd")
    try makeSymlink(tree.local("through"), to: "outs/secret")
    try makeSymlink(tree.local("dangling"), to: "nothing")
    try makeSymlink(tree.local("self"), to: "self")
    try makeSymlink(tree.local("b/loop"), to: "..")
    var options = ListingOptions()
    options.followsLinks = true
    let files = try listed([source], options)
    let sent = files.filter { $0.problem == nil }.map(\.relative.description).sorted()
    #expect(sent == ["a", "b/c", "b/up", "directory/c", "directory/up", "file"])
    let problems = Dictionary(
      uniqueKeysWithValues: files.compactMap { file in
        file.problem.map { (file.relative.description, $0.code) }
      })
    #expect(
      problems == [
        "out": .outsideRoot, "outs": .outsideRoot, "passwd": .outsideRoot, "through": .outsideRoot,
        "dangling": .inputMissing, "self": .notAFile, "b/loop": .linkLoop,
        "directory/loop": .linkLoop,
      ])
  }

  @Test func `patterns leave out directories with everything in them`() throws {
    for path in ["a.txt", "b.jpg", "c/d.txt", "c/e.jpg", "skip/f.txt", "c/skip/g.txt"] {
      try tree.make(path)
    }
    #expect(
      try names(tree) { $0.includes = [try NamePattern("*.txt")] }
        == ["a.txt", "c/d.txt", "c/skip/g.txt", "skip/f.txt"])
    #expect(
      try names(tree) { $0.excludes = [try NamePattern("skip")] }
        == ["a.txt", "b.jpg", "c/d.txt", "c/e.jpg"])
    #expect(try names(tree) { $0.excludes = [try NamePattern("/skip/")] }.contains("c/skip/g.txt"))
    #expect(
      try names(tree) {
        $0.includes = [try NamePattern("c/**")]
        $0.excludes = [try NamePattern("*.jpg")]
      } == ["c/d.txt", "c/skip/g.txt"])
  }

  @Test
  func
    `what vanishes or changes its kind while files are listed becomes an entry that can't be sent`()
    throws
  {
    for name in ["a", "b", "c", "d/x"] { try tree.make(name) }
    let listing = try FileListing([source])
    let first = try #require(try listing.next())
    // The names of the directory are known by now, but not what they are.
    let replaced = ["a", "b", "c"].filter { $0 != first.relative.description }
    for name in replaced {
      unlink(tree.path(name))
      if name != "c" { try makeFIFO(tree.local(name)) }
    }
    var codes: [BatchError.Code] = []
    while let file = try listing.next() {
      if let problem = file.problem { codes.append(problem.code) }
    }
    #expect(codes.allSatisfy { [.inputMissing, .notAFile].contains($0) })
    #expect(codes.count == replaced.count)
  }

  @Test(.enabled(if: !isSuperuser, "root may list everything"))
  func `a directory that can't be listed becomes an entry that can't be sent`() throws {
    try tree.make("a/b")
    try tree.make("c/d")
    setPermissions(tree.local("a"), 0)
    defer { setPermissions(tree.local("a"), 0o700) }
    let files = try listed([source]).sorted { $0.path.description < $1.path.description }
    #expect(files.map(\.relative) == ["a", "c/d"])
    #expect(files.map(\.problem?.code) == [.inputUnreadable, nil])
  }

  @Test func `directories that are nested too deep are named`() throws {
    let depth = 300
    let path = (0..<depth).map { _ in "d" }.joined(separator: "/")
    try tree.make("\(path)/x")
    try tree.make("a")
    let files = try listed([source])
    #expect(Set(files.map(\.problem?.code)) == [nil, .nestedTooDeep])
    let deep = try #require(files.first { $0.problem != nil })
    #expect(deep.relative.bytes.count == 2 * 256 - 1)
    // What the message says to do.
    #expect(try listed([.path(deep.path)]).map(\.relative.lastComponent) == ["x"])
  }

  @Test func `a path that is too long to be opened is named`() throws {
    // 16 directories of 250 bytes and a slash are 4016 bytes.
    let made = try run(
      program: "/usr/bin/python3",
      [
        "-c",
        """
        import os, sys
        os.chdir(sys.argv[1])
        for _ in range(16): os.mkdir("n" * 250); os.chdir("n" * 250)
        open("a" * 79, "w"); open("b" * 80, "w"); os.mkdir("c" * 78)
        """, tree.path,
      ])
    try #require(made.exit == 0, "\(made.stderr)")
    defer {
      _ = try? run(program: "/bin/rm", ["-r", tree.path("n" + String(repeating: "n", count: 249))])
    }
    let files = try listed([source])
    #expect(
      Set(files.map { "\($0.relative.lastComponent.prefix(1)) \($0.problem?.code.rawValue ?? "")" })
        == ["a ", "b nested-too-deep", "c nested-too-deep"])
  }

  @Test
  func `no file from outside is listed while a directory becomes a link and a directory again`()
    throws
  {
    try outside.make("x")
    try tree.make("d/x")
    let isOver = Guarded(false)
    let (inside, target) = (tree.path, outside.path)
    var status = stat()
    stat("\(target)/x", &status)
    let (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    let outcome = Guarded((escaped: 0, listed: 0, failed: 0, thrown: 0))
    onThreads(2) { number in
      guard number == 0 else {
        while !isOver.withLock({ $0 }) {
          rename("\(inside)/d", "\(inside)/moved")
          symlink(target, "\(inside)/d")
          sched_yield()
          unlink("\(inside)/d")
          rename("\(inside)/moved", "\(inside)/d")
        }
        return
      }
      for round in 0..<10_000 {
        var options = ListingOptions()
        options.followsLinks = round.isMultiple(of: 2)
        let sources: [BatchSource] =
          round.isMultiple(of: 3) ? [.text("\(inside)/./d/x\n")] : [.path(LocalPath(inside))]
        guard let files = try? listed(sources, options) else {
          outcome.withLock { $0.thrown += 1 }
          continue
        }
        outcome.withLock { outcome in
          for file in files {
            if file.problem != nil { outcome.failed += 1 }
            guard let identity = file.identity else { continue }
            outcome.listed += 1
            if (identity.device, identity.inode) == (device, inode) { outcome.escaped += 1 }
          }
        }
      }
      isOver.withLock { $0 = true }
    }
    let result = outcome.withLock { $0 }
    #expect(result.escaped == 0)
    #expect(result.thrown == 0)
    // The threads did meet.
    #expect(result.listed > 0 && result.failed > 0, "\(result)")
  }
}
