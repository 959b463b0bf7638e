import FormStreamMultipart
import FormStreamIntake
import FormStreamTestSupport
import Testing

@Suite struct ManyThreadsTests {
  private static let threads = 16
  private static let filesEach = 100

  /// More than a memory page, and different for each file.
  private static func bytes(_ thread: Int, _ file: Int) -> [UInt8] {
    Array(String(repeating: "\(thread) \(file)\n", count: 1_000).utf8)
  }

  /// Stores files of one name from all threads, in pieces; returns their paths and bytes, in any order.
  private func storeAll(
    in temporary: TemporaryDirectory, as name: String, replacing: Bool
  ) throws -> [(path: LocalPath, bytes: [UInt8])] {
    let directory = try StorageDirectory(temporary.local(""))
    let stored = Guarded<[(path: LocalPath, bytes: [UInt8])]>([])
    let errors = Guarded<[any Error]>([])
    onThreads(Self.threads) { thread in
      do {
        for number in 0..<Self.filesEach {
          let bytes = Self.bytes(thread, number)
          let file = try directory.makeFile()
          for start in stride(from: 0, to: bytes.count, by: 1_000) {
            try bytes[start...].prefix(1_000).withUnsafeBytes { try directory.write($0, to: file) }
          }
          let path = try directory.store(file, as: .kept(name), replacing: replacing)
          stored.withLock { $0.append((path, bytes)) }
        }
      } catch {
        errors.withLock { $0.append(error) }
      }
    }
    for error in errors.withLock(\.self) { Issue.record(error) }
    return stored.withLock(\.self)
  }

  @Test(arguments: ["photo.jpg", "a/b/photo.jpg"])
  func `files with the same name that are stored at once each get a name`(_ name: String) throws {
    let temporary = try TemporaryDirectory()
    let stored = try storeAll(in: temporary, as: name, replacing: false)
    let count = Self.threads * Self.filesEach
    #expect(stored.count == count)
    let stem = name.dropLast(4)
    let expected = (1...count).map { LocalPath("\(stem)\($0 > 1 ? "-\($0)" : "").jpg") }
    #expect(Set(stored.map(\.path)) == Set(expected))
    var files = try tree(of: temporary.path)
    files["a"] = nil
    files["a/b"] = nil
    #expect(files.count == count)
    #expect(stored.allSatisfy { files[$0.path] == .file($0.bytes) })
  }

  @Test func `if each file replaces the one before, one complete file is left`() throws {
    let temporary = try TemporaryDirectory()
    let stored = try storeAll(in: temporary, as: "photo.jpg", replacing: true)
    #expect(stored.allSatisfy { $0.path == "photo.jpg" })
    // Each thread stores its last file after all its others.
    let lasts = (0..<Self.threads).map { Self.bytes($0, Self.filesEach - 1) }
    let files = try tree(of: temporary.path)
    #expect(files.count == 1)
    #expect(lasts.contains { files["photo.jpg"] == .file($0) })
  }

  @Test func `directories that many threads make at once are made once`() throws {
    let temporary = try TemporaryDirectory()
    let directory = try StorageDirectory(temporary.local(""))
    let failure = Guarded<(any Error)?>(nil)
    onThreads(Self.threads) { thread in
      for round in 0..<Self.filesEach {
        do {
          _ = try directory.store([], as: .kept("\(round)/a/b/\(thread)"))
        } catch {
          failure.withLock { $0 = error }
        }
      }
    }
    if let failure = failure.withLock(\.self) { Issue.record(failure) }
    let entries = try tree(of: temporary.path)
    #expect(entries.values.filter { $0 == .directory }.count == 3 * Self.filesEach)
    #expect(entries.values.filter { $0 == .file([]) }.count == Self.threads * Self.filesEach)
  }
}
