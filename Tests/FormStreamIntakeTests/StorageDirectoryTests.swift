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
    try Array(text.utf8).withUnsafeBytes { try directory.write($0, to: file) }
    let destination = SafePath(filename: name, field: nil, keepingDirectories: false)
    return try directory.store(file, as: destination).description
  }

  private static func names(in temporary: TemporaryDirectory) throws -> Set<String> {
    let list = try run(program: "/bin/ls", ["-A", temporary.path])
    return Set(list.output.split(separator: "\n").map(String.init))
  }

  private static func contents(of name: String, in temporary: TemporaryDirectory) throws -> String {
    try run(program: "/bin/cat", [temporary.path(name)]).output
  }

  @Test func `no file is replaced, and each gets the first free number`() throws {
    let temporary = try TemporaryDirectory()
    try temporary.write("a.txt", "old")
    try temporary.write("a-3.txt", "old")
    let directory = try StorageDirectory(temporary.local(""))
    let stored = try (0..<4).map { try Self.store("new \($0)", as: "a.txt", in: directory) }
    #expect(stored == ["a-2.txt", "a-4.txt", "a-5.txt", "a-6.txt"])
    #expect(try Self.contents(of: "a.txt", in: temporary) == "old")
    #expect(try Self.contents(of: "a-3.txt", in: temporary) == "old")
    #expect(try Self.contents(of: "a-6.txt", in: temporary) == "new 3")
  }

  @Test func `two files with the same name are both kept`() throws {
    let temporary = try TemporaryDirectory()
    let directory = try StorageDirectory(temporary.local(""))
    let name = SafePath(filename: "a", field: nil, keepingDirectories: false)
    let one = try directory.makeFile()
    let other = try directory.makeFile()
    #expect(try directory.store(one, as: name) == "a")
    #expect(try directory.store(other, as: name) == "a-2")
    #expect(try Self.names(in: temporary) == ["a", "a-2"])
  }

  @Test func `a file that is released leaves nothing`() throws {
    let temporary = try TemporaryDirectory()
    let directory = try StorageDirectory(temporary.local(""))
    do {
      let file = try directory.makeFile()
      try [UInt8](repeating: 1, count: 100).withUnsafeBytes { try directory.write($0, to: file) }
      #expect(try Self.names(in: temporary) == [])
      try directory.close(file)
      #expect(try Self.names(in: temporary).count == 1)
    }
    #expect(try Self.names(in: temporary) == [])
  }

  @Test func `a link at the destination is not followed`() throws {
    let temporary = try TemporaryDirectory()
    let outside = try TemporaryDirectory()
    try outside.write("target", "outside")
    #expect(symlink(outside.path("target"), temporary.path("a")) == 0)
    #expect(symlink(outside.path("nothing"), temporary.path("a-2")) == 0)
    let directory = try StorageDirectory(temporary.local(""))
    #expect(try Self.store("new", as: "a", in: directory) == "a-3")
    #expect(try Self.contents(of: "target", in: outside) == "outside")
    #expect(try Self.names(in: outside) == ["target"])
  }

  @Test func `a link at the temporary name is refused`() throws {
    let temporary = try TemporaryDirectory()
    let outside = try TemporaryDirectory()
    #expect(symlink(outside.path("target"), temporary.path("tmp")) == 0)
    let directory = try StorageDirectory(temporary.local(""))
    #expect(throws: StorageError.self) {
      try directory.close(try directory.makeFile(temporaryName: FileName("tmp")))
    }
    #expect(try Self.names(in: outside) == [])
  }

  @Test func `nothing is stored in a link that replaces the directory`() throws {
    let temporary = try TemporaryDirectory()
    let outside = try TemporaryDirectory()
    let directory = try StorageDirectory(temporary.local("in"))
    #expect(rename(temporary.path("in"), temporary.path("moved")) == 0)
    #expect(symlink(outside.path, temporary.path("in")) == 0)
    #expect(try Self.store("new", as: "a", in: directory) == "a")
    #expect(try Self.names(in: outside) == [])
    #expect(try Self.contents(of: "moved/a", in: temporary) == "new")
  }

  @Test func `a missing directory is made, but not its parents`() throws {
    let temporary = try TemporaryDirectory()
    _ = try StorageDirectory(temporary.local("new"))
    #expect(try Self.names(in: temporary) == ["new"])
    for path in ["not/there", "new\0", "file/x"] {
      try temporary.write("file", "")
      let error = #expect(throws: StorageError.self) { try StorageDirectory(temporary.local(path)) }
      #expect(error?.code == .directoryUnusable)
    }
  }

  @Test func `files have the permissions of new files`() throws {
    let temporary = try TemporaryDirectory()
    let directory = try StorageDirectory(temporary.local(""))
    _ = try Self.store("", as: "a", in: directory)
    let mask = umask(0)
    umask(mask)
    var status = stat()
    #expect(stat(temporary.path("a"), &status) == 0)
    #expect(status.st_mode & 0o777 == 0o666 & ~mask)
    #expect(status.st_nlink == 1)
  }

  /// Regression: each file tried all numbers from the first on: ten thousand parts of one name took fifty million
  /// calls.
  @Test func `ten thousand files with the same name are numbered without gaps`() throws {
    let temporary = try TemporaryDirectory()
    let directory = try StorageDirectory(temporary.local(""))
    for number in 1...10_000 {
      let stored = try Self.store("", as: "a", in: directory)
      if stored != (number == 1 ? "a" : "a-\(number)") { Issue.record("\(number): \(stored)") }
    }
  }

  @Test func `what a killed process left is removed if it is old, and nothing else is`() throws {
    let temporary = try TemporaryDirectory()
    // Regression: the start deleted the user's own files of such names, such as the file of `--token-file`.
    let own = [
      ".formstream-token", ".formstream-cfg", ".formstream-notes", ".formstream-cache",
      ".formstream-1", ".formstream-3w5e11264sgsf", ".formstream-configuration",
      ".formstream-notes.txt", "a",
    ]
    let digits = "0123456789abc"
    let leftover = ".formstream-\(digits)\(digits)"
    // Too large for the generator, too short, too long, and in another case.
    let others = [
      ".formstream-z123456789abc\(digits)", ".formstream-\(digits)\(digits.dropLast())",
      "\(leftover)0", ".formstream-\(digits)0123456789ABC",
    ]
    let (link, folder) = (
      ".formstream-1123456789abc\(digits)", ".formstream-2123456789abc\(digits)"
    )
    let (new, foreign) = (
      ".formstream-3123456789abc\(digits)", ".formstream-0023456789abc\(digits)"
    )
    let old = own + others + [leftover]
    for name in old + [new, foreign] { try temporary.write(name, "x") }
    #expect(symlink("a", temporary.path(link)) == 0)
    #expect(mkdir(temporary.path(folder), 0o777) == 0)
    // Only root can give files away.
    let isRoot = geteuid() == 0
    if isRoot { #expect(chown(temporary.path(foreign), 65534, 65534) == 0) }
    let hours = [
      timespec(tv_sec: time(nil) - 7200, tv_nsec: 0),
      timespec(tv_sec: time(nil) - 7200, tv_nsec: 0),
    ]
    for name in old + [link, folder] + (isRoot ? [foreign] : []) {
      #expect(utimensat(AT_FDCWD, temporary.path(name), hours, AT_SYMLINK_NOFOLLOW) == 0)
    }
    _ = try StorageDirectory(temporary.local(""))
    #expect(
      try Self.names(in: temporary) == Set(own + others + [link, folder, new, foreign]))
  }

  @Test func `the name of a file that is not complete is one that is removed later`() {
    for _ in 0..<1000 {
      let name = FileName.temporary()
      #expect(name.isTemporary)
      #expect(name.bytes.count == ".formstream-".utf8.count + 26)
    }
  }

  @Test func `nothing is removed while another receiver uses the directory`() throws {
    let temporary = try TemporaryDirectory()
    let first = try StorageDirectory(temporary.local(""))
    try temporary.write(".formstream-1", "x")
    let hours = [
      timespec(tv_sec: time(nil) - 7200, tv_nsec: 0),
      timespec(tv_sec: time(nil) - 7200, tv_nsec: 0),
    ]
    #expect(utimensat(AT_FDCWD, temporary.path(".formstream-1"), hours, 0) == 0)
    _ = try StorageDirectory(temporary.local(""))
    #expect(try Self.names(in: temporary) == [".formstream-1"])
    withExtendedLifetime(first) {}
  }
}
