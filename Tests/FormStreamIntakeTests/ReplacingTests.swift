import Glibc
import FormStreamMultipart
import FormStreamIntake
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
