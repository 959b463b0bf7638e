import Glibc
import FormStreamMultipart
import FormStreamIntake
import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// Links in the directory that lead out of it.
@Suite struct PlantedLinkTests {
  private let temporary: TemporaryDirectory
  private let outside: TemporaryDirectory
  private let directory: StorageDirectory
  private static let kept: [LocalPath: TreeEntry] = ["target": .file([1])]

  init() throws {
    temporary = try TemporaryDirectory()
    outside = try TemporaryDirectory()
    try outside.write("target", [1])
    directory = try StorageDirectory(temporary.local(""))
  }

  private func plant(_ name: String, to target: String) {
    #expect(symlink(target, temporary.path(name)) == 0)
  }

  /// To a file, to nothing, to a directory, to itself, and to a sibling.
  private var targets: [String] {
    [outside.path("target"), outside.path("nothing"), outside.path, "", "target"].map {
      $0.isEmpty ? temporary.path("x") : $0
    }
  }

  @Test func `a link at a file's destination is not followed`() throws {
    for (index, target) in targets.enumerated() {
      plant("x\(index)", to: target)
      #expect(try directory.store([2], as: .kept("x\(index)")) == LocalPath("x\(index)-2"))
    }
    #expect(try tree(of: outside.path) == Self.kept)
    #expect(try tree(of: temporary.path)["x0-2"] == .file([2]))
  }

  @Test func `a file that replaces a link does not change the link's target`() throws {
    for (index, target) in targets.enumerated() {
      plant("x\(index)", to: target)
      #expect(
        try directory.store([2], as: .kept("x\(index)"), replacing: true)
          == LocalPath("x\(index)"))
    }
    #expect(try tree(of: outside.path) == Self.kept)
    #expect(try tree(of: temporary.path).values.allSatisfy { $0 == .file([2]) })
  }

  @Test(arguments: [false, true])
  func `a link at a directory's name is not followed; the directory gets a number`(
    _ replacing: Bool
  ) throws {
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

  @Test func `links deeper in the tree are not followed, even to a directory inside`() throws {
    #expect(try directory.store([2], as: .kept("a/b/x")) == "a/b/x")
    plant("a/link", to: outside.path)
    plant("a/inside", to: temporary.path("a/b"))
    #expect(try directory.store([2], as: .kept("a/link/c/x")) == "a/link-2/c/x")
    #expect(try directory.store([2], as: .kept("a/inside/x")) == "a/inside-2/x")
    #expect(try tree(of: outside.path) == Self.kept)
  }

  @Test func `a temporary name that exists is refused`() throws {
    for (index, target) in targets.enumerated() {
      plant("tmp\(index)", to: target)
      let error = #expect(throws: StorageError.self) {
        try directory.close(try directory.makeFile(temporaryName: FileName("tmp\(index)")))
      }
      #expect(error?.code == .storeFailed)
    }
    #expect(try tree(of: outside.path) == Self.kept)
    #expect(try tree(of: temporary.path).values.allSatisfy { $0 == .link })
  }

  /// Only a program that may write to the directory can do this. The link itself is then stored.
  @Test func `a link that replaces a temporary file is not followed`() throws {
    for replacing in [false, true] {
      let file = try directory.makeFile(temporaryName: FileName("tmp"))
      try [3].withUnsafeBytes { try directory.write($0, to: file) }
      try directory.close(file)
      #expect(unlink(temporary.path("tmp")) == 0)
      plant("tmp", to: outside.path("target"))
      _ = try directory.store(file, as: .kept("stored"), replacing: replacing)
      #expect(try tree(of: temporary.path) == ["stored": .link])
    }
    #expect(try tree(of: outside.path) == Self.kept)
  }

  /// Regression: after a hundred files of one name, no file could be stored in a directory of that name.
  @Test func `a directory whose name is taken by a file gets a number`() throws {
    try temporary.write("d", [1])
    #expect(try directory.store([2], as: .kept("d/x")) == "d-2/x")
    #expect(rename(temporary.path("d-2"), temporary.path("moved")) == 0)
    for number in 2...200 { try temporary.write("d-\(number)", [1]) }
    #expect(try directory.store([2], as: .kept("d/x")) == "d-201/x")
    #expect(try directory.store([2], as: .kept("d/x/y")) == "d-201/x-2/y")
    let restarted = try StorageDirectory(temporary.local(""))
    #expect(try restarted.store([2], as: .kept("d/x")) == "d-201/x-3")
  }
}
