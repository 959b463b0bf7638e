import Glibc
import FormStreamMultipart
import FormStreamIntake
import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// Names that are used, freed, and used again.
@Suite struct ReplacingTests {
  private let temporary: TemporaryDirectory
  private let directory: StorageDirectory

  init() throws {
    temporary = try TemporaryDirectory()
    directory = try StorageDirectory(temporary.local(""))
  }

  @Test func `replacing a file leaves all others unchanged`() throws {
    try temporary.write("a.txt", [1])
    try temporary.write("a-2.txt", [1])
    #expect(try directory.store([2], as: .kept("a.txt"), replacing: true) == "a.txt")
    #expect(try tree(of: temporary.path) == ["a.txt": .file([2]), "a-2.txt": .file([1])])
  }

  /// Regression: a private file became one that anybody could read.
  @Test(arguments: [0o600, 0o755] as [mode_t], [false, true])
  func `a file has the mode of the file that it replaces`(_ mode: mode_t, isClosed: Bool) throws {
    let path = temporary.path + "/d/a"
    _ = try directory.store([1], as: .kept("d/a"))
    #expect(chmod(path, mode) == 0)
    let file = try directory.makeFile()
    if isClosed { try file.close() }
    #expect(try directory.store(file, as: .kept("d/a"), replacing: true) == "d/a")
    var status = stat()
    #expect(stat(path, &status) == 0)
    #expect(status.st_mode & 0o777 == mode)
  }

  /// Regression: each pair became one file, and both uploads were accepted.
  @Test(arguments: [
    (".env", "_env"), ("-x", "_x"), ("a:b", "a|b"), ("x.", "x"), ("a ", "a"), ("con", "_con"),
    ("a\u{1}", "a_"),
    ("a\u{202E}", "a_"), ("a\u{FFFD}", "a\u{FFFD}"), ("/", "file"), ("..", "/"), (".env", ".env"),
    ("\(String(repeating: "n", count: 250))1", "\(String(repeating: "n", count: 250))2"),
  ])
  func `no file replaces another whose name only became the same`(
    _ one: String, _ other: String
  ) throws {
    for names in [[one, other], [other, one]] {
      for keepsDirectories in [false, true] {
        let temporary = try TemporaryDirectory()
        let directory = try StorageDirectory(temporary.local(""))
        for name in names {
          let path = SafePath(filename: name, field: nil, keepingDirectories: keepsDirectories)
          _ = try directory.store([], as: path, replacing: true)
        }
        #expect(try tree(of: temporary.path).count == 2, "\(names)")
      }
    }
  }

  @Test(arguments: [
    ("a\\b", "a/b"), ("a//b", "a/b"), ("a/../b", "a/b"), ("/a/b", "a/b"), ("a./b", "a/b"),
  ])
  func `no file replaces another whose path only became the same`(
    _ one: String, _ other: String
  ) throws {
    for names in [[one, other], [other, one]] {
      let temporary = try TemporaryDirectory()
      let directory = try StorageDirectory(temporary.local(""))
      let stored = try names.map { try directory.store([], as: .kept($0), replacing: true) }
      #expect(Set(stored) == ["a/b", "a/b-2"], "\(names)")
    }
  }

  @Test func `a file with a number is not replaced by one that was sent with that name`() throws {
    let stored = try ["x.", "x.", "x-2", "x-2-2", "x-2-2"].map {
      try directory.store([], as: .kept($0), replacing: true)
    }
    #expect(stored == ["x", "x-2", "x-2-2", "x-2-2-2", "x-2-2-3"])
  }

  @Test func `a file replaces another of the name that was sent`() throws {
    for name in ["a.txt", "b/c d/ä", "_env", "x-2"] {
      for byte in 1...3 as ClosedRange<UInt8> {
        #expect(try directory.store([byte], as: .kept(name), replacing: true) == LocalPath(name))
      }
    }
    for name in ["d/last", "e\\last", "/last"] {
      let path = SafePath(filename: name, field: nil, keepingDirectories: false)
      #expect(try directory.store([], as: path, replacing: true) == "last")
    }
  }

  /// Regression: another upload had replaced the first of the two, and the second replaced that one.
  @Test func `of two files of one name in an upload, the second gets a number whatever others do`()
    throws
  {
    let once = Guarded(0)
    onThreads(4) { _ in
      for _ in 0..<500 {
        let files = (0..<2).compactMap { _ in
          (try? directory.makeFile()).map { (file: $0, destination: SafePath.kept("one")) }
        }
        let paths = try? directory.store(files, replacing: true)
        if Set(paths ?? []).count != 2 { once.withLock { $0 += 1 } }
      }
    }
    #expect(once.withLock(\.self) == 0)
  }

  @Test func `neither a directory nor a file with the next number is replaced`() throws {
    _ = try directory.store([1], as: .kept("a/x"))
    try temporary.write("a-2", [1])
    #expect(try directory.store([2], as: .kept("a"), replacing: true) == "a-3")
    #expect(
      try tree(of: temporary.path) == [
        "a": .directory, "a/x": .file([1]), "a-2": .file([1]), "a-3": .file([2]),
      ])
  }

  @Test func `the name of a removed file is used again, but its number is not`() throws {
    for expected in ["a", "a-2", "a-3"] {
      #expect(try directory.store([], as: .kept("a")) == LocalPath(expected))
    }
    #expect(unlink(temporary.path("a")) == 0)
    #expect(unlink(temporary.path("a-2")) == 0)
    for expected in ["a", "a-4"] {
      #expect(try directory.store([7], as: .kept("a")) == LocalPath(expected))
    }
    #expect(
      try tree(of: temporary.path) == ["a": .file([7]), "a-3": .file([]), "a-4": .file([7])])
  }

  @Test func `equal names in two directories are numbered separately`() throws {
    for expected in ["a/x", "a/x-2"] {
      #expect(try directory.store([], as: .kept("a/x")) == LocalPath(expected))
    }
    #expect(try directory.store([], as: .kept("b/x")) == "b/x")
    #expect(try directory.store([], as: .kept("b/x")) == "b/x-2")
  }

  @Test func `a removed directory is made again`() throws {
    for _ in 0..<2 {
      #expect(try directory.store([], as: .kept("a/b/x")) == "a/b/x")
      #expect(unlink(temporary.path("a/b/x")) == 0)
      #expect(rmdir(temporary.path("a/b")) == 0)
      #expect(rmdir(temporary.path("a")) == 0)
    }
  }

  /// As by programs that move files out as they arrive and remove empty directories.
  @Test func `files are stored although another thread keeps removing their directories`() throws {
    let temporary = try TemporaryDirectory(inMemory: true)
    let directory = try StorageDirectory(temporary.local(""))
    let failure = Guarded<(any Error)?>(nil)
    let isOver = Guarded(false)
    let (file, inner, outer) = (temporary.path("a/b/x"), temporary.path("a/b"), temporary.path("a"))
    onThreads(2) { number in
      if number == 0 {
        for _ in 0..<5_000 {
          do {
            _ = try directory.store([1], as: .kept("a/b/x"), replacing: true)
          } catch {
            failure.withLock { $0 = error }
          }
        }
        isOver.withLock { $0 = true }
      }
      while !isOver.withLock({ $0 }) {
        // Often enough to interfere, but not so often that a file could never be stored.
        if unlink(file) < 0 { continue }
        for _ in 0..<10 {
          rmdir(inner)
          rmdir(outer)
        }
      }
    }
    if let failure = failure.withLock(\.self) { Issue.record(failure) }
  }

  /// More names than are remembered.
  @Test func `if the last number of a name was forgotten, the next free one is found`() throws {
    for name in 0..<1_100 {
      for number in 1...2 {
        let stored = try directory.store([UInt8(number)], as: .kept("\(name)"))
        if stored != LocalPath(number == 1 ? "\(name)" : "\(name)-2") {
          Issue.record("\(name) was stored as \(stored)")
        }
      }
    }
    #expect(try directory.store([3], as: .kept("0")) == "0-3")
    let entries = try tree(of: temporary.path)
    #expect(entries.count == 2_201)
    #expect(entries["0"] == .file([1]) && entries["0-2"] == .file([2]))
  }

  @Test func `a stored file can be neither stored again nor written`() throws {
    let file = try directory.makeFile()
    _ = try directory.store(file, as: .kept("a"))
    // This file probably gets the descriptor number of the closed one.
    let other = try directory.makeFile()
    #expect(throws: StorageError.self) { try directory.store(file, as: .kept("c")) }
    #expect(throws: StorageError.self) {
      try [1].withUnsafeBytes { try directory.write($0, to: file) }
    }
    _ = try directory.store(other, as: .kept("b"))
    #expect(try tree(of: temporary.path) == ["a": .file([]), "b": .file([])])
  }
}
