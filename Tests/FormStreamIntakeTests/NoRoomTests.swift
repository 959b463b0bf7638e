import FormStreamMultipart
import FormStreamIntake
import FormStreamTestSupport
import Testing

@Suite(.enabled(if: SmallDisk.isAllowed, "a file system can't be mounted here"))
struct NoRoomTests {
  private static func expectNoRoom(_ act: String, _ body: () throws -> Void) {
    let error = #expect(throws: StorageError.self, performing: body)
    #expect(error?.code == .noRoom)
    #expect(error?.description.contains("could not be \(act): No space left on device") == true)
    #expect(error?.description.contains("Make room there") == true)
  }

  @Test func `a file that does not fit leaves nothing, and a smaller one is stored`() throws {
    try SmallDisk.mounted(size: "1m", files: 100) { disk in
      let directory = try StorageDirectory(disk)
      let bytes = [UInt8](repeating: 1, count: 600_000)
      #expect(try directory.store(bytes, as: .kept("a")) == "a")
      Self.expectNoRoom("written") { _ = try directory.store(bytes, as: .kept("d/b")) }
      #expect(try tree(of: disk.description) == ["a": .file(bytes)])
      #expect(try directory.store([2], as: .kept("c")) == "c")
    }
  }

  /// This disk has room for one file: its own directory is the other.
  @Test func `if there is no room for a directory, nothing is left`() throws {
    try SmallDisk.mounted(size: "1m", files: 2) { disk in
      let directory = try StorageDirectory(disk)
      Self.expectNoRoom("given its name") { _ = try directory.store([1], as: .kept("d/a")) }
      #expect(try tree(of: disk.description).isEmpty)
      #expect(try directory.store([1], as: .kept("a")) == "a")
      Self.expectNoRoom("made") { _ = try directory.makeFile() }
      #expect(try tree(of: disk.description) == ["a": .file([1])])
    }
  }
}
