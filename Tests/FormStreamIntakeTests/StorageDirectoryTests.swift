import Glibc
import FormStreamMultipart
import FormStreamIntake
import FormStreamPlatform
import FormStreamTestSupport
import Testing

@Suite struct StorageDirectoryTests {
  private static func store(
    _ text: String, as name: String, in directory: StorageDirectory
  ) throws -> String {
    let file = try directory.makeFile()
    try Array(text.utf8).withUnsafeBytes { try file.write($0) }
    let place = SafePath(filename: name, field: nil, keepingDirectories: false)
    return try file.store(as: place).description
  }

  private static func names(in place: TemporaryDirectory) throws -> Set<String> {
    let list = try run(program: "/bin/ls", ["-A", place.path])
    return Set(list.output.split(separator: "\n").map(String.init))
  }

  private static func contents(of name: String, in place: TemporaryDirectory) throws -> String {
    try run(program: "/bin/cat", [place.path(name)]).output
  }

  @Test func `nothing is written over, and each file gets the first number that is free`() throws {
    let place = try TemporaryDirectory()
    try place.write("a.txt", "old")
    try place.write("a-3.txt", "old")
    let directory = try StorageDirectory(place.local(""))
    let stored = try (0..<4).map { try Self.store("new \($0)", as: "a.txt", in: directory) }
    #expect(stored == ["a-2.txt", "a-4.txt", "a-5.txt", "a-6.txt"])
    #expect(try Self.contents(of: "a.txt", in: place) == "old")
    #expect(try Self.contents(of: "a-3.txt", in: place) == "old")
    #expect(try Self.contents(of: "a-6.txt", in: place) == "new 3")
  }

  @Test func `two files of one name at once are two files`() throws {
    let place = try TemporaryDirectory()
    let directory = try StorageDirectory(place.local(""))
    let name = SafePath(filename: "a", field: nil, keepingDirectories: false)
    let one = try directory.makeFile()
    let other = try directory.makeFile()
    #expect(try one.store(as: name) == "a")
    #expect(try other.store(as: name) == "a-2")
    #expect(try Self.names(in: place) == ["a", "a-2"])
  }

  @Test func `a file that is let go leaves nothing`() throws {
    let place = try TemporaryDirectory()
    let directory = try StorageDirectory(place.local(""))
    do {
      let file = try directory.makeFile()
      try [UInt8](repeating: 1, count: 100).withUnsafeBytes { try file.write($0) }
      #expect(try Self.names(in: place).count == 1)
    }
    #expect(try Self.names(in: place) == [])
  }

  @Test func `a link that was planted under the name is not followed`() throws {
    let place = try TemporaryDirectory()
    let outside = try TemporaryDirectory()
    try outside.write("target", "outside")
    #expect(symlink(outside.path("target"), place.path("a")) == 0)
    #expect(symlink(outside.path("nothing"), place.path("a-2")) == 0)
    let directory = try StorageDirectory(place.local(""))
    #expect(try Self.store("new", as: "a", in: directory) == "a-3")
    #expect(try Self.contents(of: "target", in: outside) == "outside")
    #expect(try Self.names(in: outside) == ["target"])
  }

  @Test func `a link that was planted under the temporary name is refused`() throws {
    let place = try TemporaryDirectory()
    let outside = try TemporaryDirectory()
    #expect(symlink(outside.path("target"), place.path("tmp")) == 0)
    let directory = try StorageDirectory(place.local(""))
    #expect(throws: StorageError.self) { try directory.makeFile(temporaryName: FileName("tmp")) }
    #expect(try Self.names(in: outside) == [])
  }

  @Test func `what takes the directory's place is not written to`() throws {
    let place = try TemporaryDirectory()
    let outside = try TemporaryDirectory()
    let directory = try StorageDirectory(place.local("in"))
    #expect(rename(place.path("in"), place.path("moved")) == 0)
    #expect(symlink(outside.path, place.path("in")) == 0)
    #expect(try Self.store("new", as: "a", in: directory) == "a")
    #expect(try Self.names(in: outside) == [])
    #expect(try Self.contents(of: "moved/a", in: place) == "new")
  }

  @Test func `a directory is made, but not those above it`() throws {
    let place = try TemporaryDirectory()
    _ = try StorageDirectory(place.local("new"))
    #expect(try Self.names(in: place) == ["new"])
    for path in ["not/there", "new\0", "file/x"] {
      try place.write("file", "")
      let error = #expect(throws: StorageError.self) { try StorageDirectory(place.local(path)) }
      #expect(error?.code == .directoryUnusable)
    }
  }

  @Test func `permissions are those of new files`() throws {
    let place = try TemporaryDirectory()
    let directory = try StorageDirectory(place.local(""))
    _ = try Self.store("", as: "a", in: directory)
    let mask = umask(0)
    umask(mask)
    var status = stat()
    #expect(stat(place.path("a"), &status) == 0)
    #expect(status.st_mode & 0o777 == 0o666 & ~mask)
    #expect(status.st_nlink == 1)
  }

  /// Each name was tried from the first number on: ten thousand parts of one name took fifty million calls.
  @Test func `ten thousand files of one name try ten thousand names`() throws {
    let place = try TemporaryDirectory()
    let directory = try StorageDirectory(place.local(""))
    for number in 1...10_000 {
      let stored = try Self.store("", as: "a", in: directory)
      if stored != (number == 1 ? "a" : "a-\(number)") { Issue.record("\(number): \(stored)") }
    }
  }
}
