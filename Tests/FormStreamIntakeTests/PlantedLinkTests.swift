import Glibc
import FormStreamMultipart
import FormStreamIntake
import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// Links that somebody made in the directory, to what is outside of it.
@Suite struct PlantedLinkTests {
  private let place: TemporaryDirectory
  private let outside: TemporaryDirectory
  private let directory: StorageDirectory
  private static let kept: [LocalPath: TreeEntry] = ["target": .file([1])]

  init() throws {
    place = try TemporaryDirectory()
    outside = try TemporaryDirectory()
    try outside.write("target", [1])
    directory = try StorageDirectory(place.local(""))
  }

  private func plant(_ name: String, to target: String) {
    #expect(symlink(target, place.path(name)) == 0)
  }

  /// Live, dangling, to a directory, and to itself.
  private var targets: [String] {
    [outside.path("target"), outside.path("nothing"), outside.path, "", "target"].map {
      $0.isEmpty ? place.path("x") : $0
    }
  }

  @Test func `a file's name is not followed`() throws {
    for (index, target) in targets.enumerated() {
      plant("x\(index)", to: target)
      #expect(try directory.store([2], as: .kept("x\(index)")) == LocalPath("x\(index)-2"))
    }
    #expect(try tree(of: outside.path) == Self.kept)
    #expect(try tree(of: place.path)["x0-2"] == .file([2]))
  }

  @Test func `what replaces a link leaves alone what it leads to`() throws {
    for (index, target) in targets.enumerated() {
      plant("x\(index)", to: target)
      #expect(
        try directory.store([2], as: .kept("x\(index)"), replacing: true)
          == LocalPath("x\(index)"))
    }
    #expect(try tree(of: outside.path) == Self.kept)
    #expect(try tree(of: place.path).values.allSatisfy { $0 == .file([2]) })
  }

  @Test(arguments: [false, true])
  func `a directory's name is not followed, and the first like it taken`(_ replacing: Bool) throws {
    for (index, target) in (targets + ["."]).enumerated() {
      plant("d\(index)", to: target)
      for name in ["x", "y"] {
        #expect(
          try directory.store([2], as: .kept("d\(index)/\(name)"), replacing: replacing)
            == LocalPath("d\(index)-2/\(name)"))
      }
    }
    #expect(try tree(of: outside.path) == Self.kept)
  }

  @Test func `nor further in, nor to a directory inside`() throws {
    #expect(try directory.store([2], as: .kept("a/b/x")) == "a/b/x")
    plant("a/link", to: outside.path)
    plant("a/inside", to: place.path("a/b"))
    #expect(try directory.store([2], as: .kept("a/link/c/x")) == "a/link-2/c/x")
    #expect(try directory.store([2], as: .kept("a/inside/x")) == "a/inside-2/x")
    #expect(try tree(of: outside.path) == Self.kept)
  }

  @Test func `a temporary name that is taken is refused`() throws {
    for (index, target) in targets.enumerated() {
      plant("tmp\(index)", to: target)
      let error = #expect(throws: StorageError.self) {
        try directory.makeFile(temporaryName: FileName("tmp\(index)"))
      }
      #expect(error?.code == .storeFailed)
    }
    #expect(try tree(of: outside.path) == Self.kept)
    #expect(try tree(of: place.path).values.allSatisfy { $0 == .link })
  }

  /// Whoever may write to the directory can do this: the link is stored, for it is what has the name.
  @Test func `a link that takes a temporary file's place is not followed`() throws {
    for replacing in [false, true] {
      let file = try directory.makeFile(temporaryName: FileName("tmp"))
      try [3].withUnsafeBytes { try file.write($0) }
      #expect(unlink(place.path("tmp")) == 0)
      plant("tmp", to: outside.path("target"))
      _ = try file.store(as: .kept("stored"), replacing: replacing)
      #expect(try tree(of: place.path) == ["stored": .link])
    }
    #expect(try tree(of: outside.path) == Self.kept)
  }

  @Test func `files that have a directory's name keep none out, within reason`() throws {
    try place.write("d", [1])
    #expect(try directory.store([2], as: .kept("d/x")) == "d-2/x")
    for number in 3...100 { try place.write("d-\(number)", [1]) }
    #expect(try directory.store([2], as: .kept("d/x")) == "d-2/x-2")
    #expect(rename(place.path("d-2"), place.path("moved")) == 0)
    try place.write("d-2", [1])
    let before = try tree(of: place.path)
    let error = #expect(throws: StorageError.self) {
      try directory.store([2], as: .kept("d/x"))
    }
    #expect(error?.code == .storeFailed)
    #expect(error?.description.contains("Not a directory") == true)
    #expect(try tree(of: place.path) == before)
  }
}
