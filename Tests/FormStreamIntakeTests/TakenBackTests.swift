import FormStreamIntake
import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// A file that was taken over may be the only copy of its bytes.
@Suite struct TakenBackTests {
  /// Regression: it was removed if another file had its earlier name by then.
  @Test func `a file that was taken over is never removed`() throws {
    // The order in which the files are taken back depends on their names.
    for name in (0..<20).map({ "a\($0)" }) {
      let place = try TemporaryDirectory()
      let directory = try StorageDirectory(place.local(""))
      let root = try DirectoryDescriptor(LocalPath(place.path))
      let partial = try #require(
        try PartialFile(creating: FileName(bytes: Array("left".utf8)), in: root) { _ in })
      let bytes = Array("only".utf8)
      try bytes.withUnsafeBytes { bytes in try partial.write(bytes) }
      try place.write("taken", [1])
      // The second file gets the earlier name of the first one, and the third one gets no name.
      let files: [(file: AtomicFile, destination: SafePath)] = [
        (try partial.makeAtomic(), .kept(name)), (try directory.makeFile(), .kept("left")),
        (try directory.makeFile(), .kept("taken")),
      ]
      let error = #expect(throws: StorageError.self) { try directory.store(files, ifTaken: .refuse) }
      let kept: LocalPath = error?.kept[0] == nil ? "left" : LocalPath(name)
      #expect(try tree(of: place.path) == ["taken": .file([1]), kept: .file(bytes)])
    }
  }
}
