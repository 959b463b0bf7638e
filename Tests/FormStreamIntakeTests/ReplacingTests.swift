import Glibc
import FormStreamMultipart
import FormStreamIntake
import FormStreamTestSupport
import Testing

/// Names that are taken, freed, and taken again.
@Suite struct ReplacingTests {
  private let place: TemporaryDirectory
  private let directory: StorageDirectory

  init() throws {
    place = try TemporaryDirectory()
    directory = try StorageDirectory(place.local(""))
  }

  @Test func `a file that is replaced is gone, and others stand`() throws {
    try place.write("a.txt", [1])
    try place.write("a-2.txt", [1])
    #expect(try directory.store([2], as: .kept("a.txt"), replacing: true) == "a.txt")
    #expect(try tree(of: place.path) == ["a.txt": .file([2]), "a-2.txt": .file([1])])
  }

  @Test func `a directory is not replaced, nor is what has the next number`() throws {
    _ = try directory.store([1], as: .kept("a/x"))
    try place.write("a-2", [1])
    #expect(try directory.store([2], as: .kept("a"), replacing: true) == "a-3")
    #expect(
      try tree(of: place.path) == [
        "a": .directory, "a/x": .file([1]), "a-2": .file([1]), "a-3": .file([2]),
      ])
  }

  @Test func `a name that is free again is given again, a number only to one`() throws {
    for expected in ["a", "a-2", "a-3"] {
      #expect(try directory.store([], as: .kept("a")) == LocalPath(expected))
    }
    #expect(unlink(place.path("a")) == 0)
    #expect(unlink(place.path("a-2")) == 0)
    for expected in ["a", "a-4"] {
      #expect(try directory.store([7], as: .kept("a")) == LocalPath(expected))
    }
    #expect(
      try tree(of: place.path) == ["a": .file([7]), "a-3": .file([]), "a-4": .file([7])])
  }

  @Test func `names of one spelling in two directories are numbered apart`() throws {
    for expected in ["a/x", "a/x-2"] {
      #expect(try directory.store([], as: .kept("a/x")) == LocalPath(expected))
    }
    #expect(try directory.store([], as: .kept("b/x")) == "b/x")
    #expect(try directory.store([], as: .kept("b/x")) == "b/x-2")
  }

  @Test func `a directory that is removed is made again`() throws {
    for _ in 0..<2 {
      #expect(try directory.store([], as: .kept("a/b/x")) == "a/b/x")
      #expect(unlink(place.path("a/b/x")) == 0)
      #expect(rmdir(place.path("a/b")) == 0)
      #expect(rmdir(place.path("a")) == 0)
    }
  }

  /// As programs do that take files out as they come, and tidy up behind them.
  @Test func `directories that another removes all the while keep no file out`() throws {
    let place = try TemporaryDirectory(inMemory: true)
    let directory = try StorageDirectory(place.local(""))
    let failure = Guarded<(any Error)?>(nil)
    let isOver = Guarded(false)
    let (file, inner, outer) = (place.path("a/b/x"), place.path("a/b"), place.path("a"))
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
        // So often that a file meets it, not so often that it could keep one out for ever.
        if unlink(file) < 0 { continue }
        for _ in 0..<10 {
          rmdir(inner)
          rmdir(outer)
        }
      }
    }
    if let failure = failure.withLock(\.self) { Issue.record(failure) }
  }

  /// Of more names than are remembered.
  @Test func `what is forgotten is found again`() throws {
    for name in 0..<1_100 {
      for number in 1...2 {
        let stored = try directory.store([UInt8(number)], as: .kept("\(name)"))
        if stored != LocalPath(number == 1 ? "\(name)" : "\(name)-2") {
          Issue.record("\(name) was stored as \(stored)")
        }
      }
    }
    #expect(try directory.store([3], as: .kept("0")) == "0-3")
    let entries = try tree(of: place.path)
    #expect(entries.count == 2_201)
    #expect(entries["0"] == .file([1]) && entries["0-2"] == .file([2]))
  }

  @Test func `a file is stored once, and nothing is written behind that`() throws {
    let file = try directory.makeFile()
    _ = try file.store(as: .kept("a"))
    // This one is likely to get the number of the one that was closed.
    let other = try directory.makeFile()
    #expect(throws: StorageError.self) { try file.store(as: .kept("c")) }
    #expect(throws: StorageError.self) { try [1].withUnsafeBytes { try file.write($0) } }
    _ = try other.store(as: .kept("b"))
    #expect(try tree(of: place.path) == ["a": .file([]), "b": .file([])])
  }
}
