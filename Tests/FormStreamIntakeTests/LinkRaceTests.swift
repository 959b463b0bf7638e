import Glibc
import FormStreamMultipart
import FormStreamIntake
import FormStreamTestSupport
import Testing

/// Somebody puts a link in a name's place, and takes it away again, while files are stored.
@Suite struct LinkRaceTests {
  private static let rounds = 10_000

  private let place: TemporaryDirectory
  private let outside: TemporaryDirectory

  init() throws {
    place = try TemporaryDirectory(inMemory: true)
    outside = try TemporaryDirectory(inMemory: true)
  }

  /// What came of the rounds.
  private struct Outcome {
    var stored: [LocalPath: [UInt8]] = [:]
    var failures: [StorageError] = []
    var others: [any Error] = []
  }

  /// Stores one file after the other on one thread, while another does `swap` again and again.
  private func race(
    storing name: String, replacing: @escaping @Sendable (Int) -> Bool,
    swap: @escaping @Sendable (Int) -> Void
  ) throws -> Outcome {
    let directory = try StorageDirectory(place.local("in"))
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
    try tree(of: place.path("in")).values.compactMap {
      if case .file(let bytes) = $0 { bytes } else { nil }
    }
  }

  @Test func `a directory that becomes a link and a directory again lets nothing out`() throws {
    let inside = place.path("in")
    let outside = outside.path
    let outcome = try race(storing: "d/x", replacing: { _ in false }) { round in
      // A directory that was made meanwhile is moved away like the first, with what is in it.
      let moved = "\(inside)/moved-\(round)"
      rename("\(inside)/d", moved)
      symlink(outside, "\(inside)/d")
      sched_yield()
      unlink("\(inside)/d")
      rename(moved, "\(inside)/d")
    }
    #expect(try tree(of: outside).isEmpty)
    #expect(outcome.others.first == nil)
    // The link was met, and so were directories.
    let firsts = Set(outcome.stored.keys.map { $0.bytes.prefix { $0 != UInt8(ascii: "/") } })
    #expect(firsts.contains(Array("d-2".utf8)[...]), "\(firsts.count)")
    // Files stand whole where the directories went, and no temporary one is left.
    let files = try files()
    #expect(files.count + outcome.failures.count == Self.rounds)
    #expect(Set(files).count == files.count)
    #expect(Set(outcome.stored.values).isSubset(of: Set(files)))
  }

  @Test func `a file's name that becomes a link again and again lets nothing out`() throws {
    try outside.write("target", [1])
    let inside = place.path("in")
    let targets = [outside.path("target"), outside.path("nothing"), outside.path]
    let outcome = try race(storing: "x", replacing: { $0.isMultiple(of: 2) }) { round in
      symlink(targets[round % targets.count], "\(inside)/x")
      sched_yield()
      unlink("\(inside)/x")
    }
    #expect(try tree(of: outside.path) == ["target": .file([1])])
    #expect(outcome.others.first == nil)
    #expect(outcome.failures.first == nil)
    // What is left of them is whole.
    let whole = Set((0..<Self.rounds).map { Array("bytes of \($0)".utf8) })
    #expect(try files().allSatisfy(whole.contains))
    #expect(outcome.stored.keys.contains { $0 != "x" })
  }
}
