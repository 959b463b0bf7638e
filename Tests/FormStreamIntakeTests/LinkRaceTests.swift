import Glibc
import FormStreamMultipart
import FormStreamIntake
import FormStreamTestSupport
import Testing

/// Another thread replaces names by links, and removes the links again, while files are stored.
@Suite struct LinkRaceTests {
  private static let rounds = 10_000

  private let temporary: TemporaryDirectory
  private let outside: TemporaryDirectory

  init() throws {
    temporary = try TemporaryDirectory(inMemory: true)
    outside = try TemporaryDirectory(inMemory: true)
  }

  /// The results of all rounds.
  private struct Outcome {
    var stored: [LocalPath: [UInt8]] = [:]
    var failures: [StorageError] = []
    var others: [any Error] = []
  }

  /// Stores one file after another on one thread, while another thread calls `swap` repeatedly.
  private func race(
    storing name: String, replacing: @escaping @Sendable (Int) -> Bool,
    swap: @escaping @Sendable (Int) -> Void
  ) throws -> Outcome {
    let directory = try StorageDirectory(temporary.local("in"))
    let outcome = Guarded(Outcome())
    let isOver = Guarded(false)
    onThreads(2) { number in
      guard number == 0 else {
        var round = 0
        while !isOver.withLock({ $0 }) {
          swap(round)
          round += 1
        }
        return
      }
      for round in 0..<Self.rounds {
        let bytes = Array("bytes of \(round)".utf8)
        do {
          let path = try directory.store(bytes, as: .kept(name), replacing: replacing(round))
          outcome.withLock { $0.stored[path] = bytes }
        } catch let error as StorageError {
          outcome.withLock { $0.failures.append(error) }
        } catch {
          outcome.withLock { $0.others.append(error) }
        }
      }
      isOver.withLock { $0 = true }
    }
    return outcome.withLock(\.self)
  }

  private func files() throws -> [[UInt8]] {
    try tree(of: temporary.path("in")).values.compactMap {
      if case .file(let bytes) = $0 { bytes } else { nil }
    }
  }

  @Test func `no file leaves through a directory that becomes a link and a directory again`() throws {
    let inside = temporary.path("in")
    let outside = outside.path
    let outcome = try race(storing: "d/x", replacing: { _ in false }) { round in
      // A directory that was made in the meantime is moved away like the first, with its contents.
      let moved = "\(inside)/moved-\(round)"
      rename("\(inside)/d", moved)
      symlink(outside, "\(inside)/d")
      sched_yield()
      unlink("\(inside)/d")
      rename(moved, "\(inside)/d")
    }
    #expect(try tree(of: outside).isEmpty)
    #expect(outcome.others.first == nil)
    // The threads did meet: some files were stored beside the link.
    let firsts = Set(outcome.stored.keys.map { $0.bytes.prefix { $0 != UInt8(ascii: "/") } })
    #expect(firsts.contains(Array("d-2".utf8)[...]), "\(firsts.count)")
    // All files are complete, and no temporary file is left.
    let files = try files()
    #expect(files.count + outcome.failures.count == Self.rounds)
    #expect(Set(files).count == files.count)
    #expect(Set(outcome.stored.values).isSubset(of: Set(files)))
  }

  @Test func `no file is written through a name that repeatedly becomes a link`() throws {
    try outside.write("target", [1])
    let inside = temporary.path("in")
    let targets = [outside.path("target"), outside.path("nothing"), outside.path]
    let outcome = try race(storing: "x", replacing: { $0.isMultiple(of: 2) }) { round in
      symlink(targets[round % targets.count], "\(inside)/x")
      sched_yield()
      unlink("\(inside)/x")
    }
    #expect(try tree(of: outside.path) == ["target": .file([1])])
    #expect(outcome.others.first == nil)
    #expect(outcome.failures.first == nil)
    // The remaining files are complete.
    let complete = Set((0..<Self.rounds).map { Array("bytes of \($0)".utf8) })
    #expect(try files().allSatisfy(complete.contains))
    #expect(outcome.stored.keys.contains { $0 != "x" })
  }
}
