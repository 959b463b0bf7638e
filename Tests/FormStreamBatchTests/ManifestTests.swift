import Glibc
import FormStreamBatch
import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamTestSupport
import Testing

@Suite struct ManifestTests {
  private static let id = "00000000-0000-4000-8000-000000000000"
  private static let header =
    #"{"schema":"formstream.manifest/1","id":"\#(id)","root":"/data","root_b64":null}"# + "\n"

  private let place: TemporaryDirectory

  init() throws { place = try TemporaryDirectory(inMemory: true) }

  private func files(_ text: String, shard: Shard? = nil) throws -> [BatchFile] {
    let reader = try ManifestReader(try place.write("manifest", text), shard: shard)
    var files: [BatchFile] = []
    while let file = try reader.next() { files.append(file) }
    return files
  }

  @Test func `the lines of a manifest are those that are documented`() throws {
    var encoder = ManifestEncoder(root: "/data", id: Self.id)
    #expect(encoder.header == Array(Self.header.utf8))
    var file = BatchFile(path: "/data/a/b.jpg", size: 12, modified: 1_700_000_000_000_000_001)
    file.manifestPath = "a/b.jpg"
    let first = encoder.line(for: file)
    #expect(
      String(decoding: first, as: UTF8.self)
        == #"{"path":"a/b.jpg","path_b64":null,"size":12,"mtime_ns":1700000000000000001}"# + "\n")
    file.manifestPath = LocalPath(bytes: [0xFF, 0x0A])
    file.type = "image/jpeg"
    file.sha256 = SHA256Digest(String(repeating: "0a", count: 32))
    file.fields = [.init(name: "a", value: "b"), .init(name: "a", value: "")]
    #expect(encoder.offset == Int64(Self.header.utf8.count + first.count))
    #expect(
      String(decoding: encoder.line(for: file), as: UTF8.self)
        == #"{"path":"\#u{FFFD}\n","path_b64":"/wo=","size":12,"mtime_ns":1700000000000000001,"type":"image/jpeg","#
        + #""sha256":"\#(String(repeating: "0a", count: 32))","fields":[["a","b"],["a",""]]}"#
        + "\n")
    file = BatchFile(
      path: "x", problem: BatchError(.inputMissing, on: "x", "The file \"x\" does not exist."))
    #expect(
      String(decoding: encoder.line(for: file), as: UTF8.self)
        == #"{"path":"x","path_b64":null,"size":null,"mtime_ns":null,"#
        + #""error":{"code":"input-missing","message":"The file \"x\" does not exist."}}"# + "\n")
  }

  @Test func `a manifest that was made by hand is read`() throws {
    let files = try files(
      Self.header + #"{"path":"a/b","size":1,"mtime_ns":2}"# + "\n"
        + #" { "mtime_ns" : -5 , "size" : 0 , "path" : "/x/./y" , "later" : [ 1 ] , "type" : "text/plain",  "#
        + #""sha256":"\#(String(repeating: "AB", count: 32))","fields":[["n","v"]] } "#)
    #expect(files.map(\.path) == ["/data/a/b", "/x/y"])
    #expect(files.map(\.root) == ["/data", "/x"])
    #expect(files.map(\.relative) == ["a/b", "y"])
    #expect(files.map(\.index) == [0, 1])
    #expect(files[0].offset == Int64(Self.header.utf8.count))
    #expect(files[1].type == "text/plain")
    #expect(files[1].sha256 == SHA256Digest(String(repeating: "ab", count: 32)))
    #expect(files[1].fields == [.init(name: "n", value: "v")])
    #expect(files[1].modified == -5)
  }

  @Test func `what a listing found is read from its manifest, whatever the names`() throws {
    let tree = try TemporaryDirectory(inMemory: true)
    try tree.make("a/b")
    try tree.make("c")
    try tree.make("-x")
    for name: [UInt8] in [[0xFF], [0x0A], Array("a ; \"b\"\\".utf8)] {
      try writeFile(LocalPath(bytes: Array("\(tree.path)/a/".utf8) + name), [1])
    }
    let directory = BatchSource.path(LocalPath(tree.path))
    for sources in [
      [directory], [.path(LocalPath("\(tree.path)/"))], [directory, .path(tree.local("c"))],
      [.text("\(tree.path)/c\n\(tree.path)/./a/b\n\(tree.path)/missing\n../nothing\n")],
      [.path(tree.local("-x"))],
    ] {
      let listing = try FileListing(sources)
      var encoder = ManifestEncoder(root: listing.root)
      var (expected, bytes) = ([BatchFile](), encoder.header)
      while var file = try listing.next() {
        file.offset = encoder.offset
        bytes += encoder.line(for: file)
        expected.append(file)
      }
      #expect(!expected.isEmpty)
      let reader = try ManifestReader(try place.write("m", bytes))
      #expect(reader.id == encoder.id)
      for file in expected {
        let read = try #require(try reader.next())
        #expect(read.relative == file.relative)
        #expect(
          (read.size, read.modified, read.index, read.offset)
            == (file.size, file.modified, file.index, file.offset))
        #expect(read.problem?.code == file.problem?.code)
        #expect(read.problem?.description == file.problem?.description)
        #expect(sameFile(read.path, file.path) || file.problem != nil, "\(read.path) \(file.path)")
        #expect(read.root == nil || read.root?.bytes.first == UInt8(ascii: "/"))
      }
      #expect(try reader.next() == nil)
    }
  }

  private func sameFile(_ one: LocalPath, _ other: LocalPath) -> Bool {
    var (first, second) = (stat(), stat())
    return withCPath(one.bytes) { stat($0, &first) } == 0
      && withCPath(other.bytes) { stat($0, &second) } == 0
      && (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)
  }

  @Test(arguments: [
    "", "\n", "x\n", "{}\n", #"{"schema":"formstream.manifest/2","id":"\#(id)"}"#,
    #"{"schema":"formstream.manifest/1"}"#, #"{"schema":"formstream.manifest/1","id":"x"}"#,
    #"{"schema":"formstream.manifest/1","id":"\#(id)","root":1}"#,
    #"{"schema":"formstream.manifest/1","id":"\#(id)","root":"","root_b64":"?"}"#,
    #"{"schema":"formstream.manifest/1","id":"\#(id)","root":""}"#,
  ])
  func `a file that is no manifest is refused`(text: String) throws {
    let path = try place.write("manifest", text)
    let error = #expect(throws: BatchError.self) { try ManifestReader(path) }
    #expect(error?.code == .manifestMalformed)
  }

  @Test(arguments: [
    "x", "{", "[]", "1", #"{"path":"a","size":1e3,"mtime_ns":1}"#,
    #"{"path":"\#(String(repeating: "a", count: 16385))","size":1,"mtime_ns":1}"#, "{}",
    #"{"path":"a"}"#, #"{"path":"","size":1,"mtime_ns":1}"#,
    #"{"path":"a","size":-1,"mtime_ns":1}"#, #"{"path":"a","size":1.5,"mtime_ns":1}"#,
    #"{"path":"a","size":9223372036854775808,"mtime_ns":1}"#, #"{"path":"a","size":1}"#,
    #"{"path":1,"size":1,"mtime_ns":1}"#, #"{"path":"a","path_b64":"*","size":1,"mtime_ns":1}"#,
    #"{"path":"a","size":1,"mtime_ns":1,"type":"x"}"#,
    #"{"path":"a","size":1,"mtime_ns":1,"sha256":"ab"}"#,
    #"{"path":"a","size":1,"mtime_ns":1,"fields":{"a":"b"}}"#,
    #"{"path":"a","size":1,"mtime_ns":1,"fields":[["a"]]}"#,
    #"{"path":"a","size":null,"mtime_ns":null,"error":{}}"#,
  ])
  func `a malformed record is an error that names its place`(line: String) throws {
    let fine = #"{"path":"a","size":1,"mtime_ns":1}"# + "\n"
    let reader = try ManifestReader(try place.write("m", Self.header + fine + line + "\n" + fine))
    #expect(try reader.next() != nil)
    let error = #expect(throws: BatchError.self) { try reader.next() }
    #expect(error?.code == .manifestMalformed)
    let offset = Self.header.utf8.count + fine.utf8.count
    #expect(error?.description.contains("byte \(offset):") == true)
  }

  @Test func `a blank line is room for records that were lost`() throws {
    let fine = #"{"path":"a","size":1,"mtime_ns":1}"# + "\n"
    let files = try files(Self.header + fine + "   \n \n" + fine + " \n")
    #expect(files.map(\.index) == [0, 1])
    #expect(files[1].offset == Int64(Self.header.utf8.count + fine.utf8.count + 6))
  }

  /// Regression: an empty line, as other programs leave at the end, failed every run and every shard.
  @Test func `an empty line is skipped, in each shard`() throws {
    let fine = #"{"path":"a","size":1,"mtime_ns":1}"# + "\n"
    for blank in ["\n", "\r\n", "\t\n", "\n\n \n"] {
      for text in [
        blank + fine + fine, fine + blank + fine, fine + fine + blank, fine + fine + "\r",
      ] {
        #expect(try files(Self.header + text).count == 2)
        let parts = try (1...5).map { try files(Self.header + text, shard: Shard($0, of: 5)).count }
        #expect(parts.reduce(0, +) == 2, "\(parts) \(text)")
      }
    }
  }

  @Test func `a manifest that becomes shorter while it is read is an error, and not complete`()
    throws
  {
    let fine = #"{"path":"a","size":1,"mtime_ns":1}"# + "\n"
    for rest in [Int64(0), 5] {
      let path = try place.write("m", Self.header + String(repeating: fine, count: 20_000))
      let reader = try ManifestReader(path)
      _ = try reader.next()
      truncate(place.path("m"), Int(Int64(Self.header.utf8.count) + 35 * 10_000 + rest))
      let error = #expect(throws: BatchError.self) { while try reader.next() != nil {} }
      #expect(error?.code == .manifestMalformed)
      #expect(error?.description.contains("became shorter") == true)
    }
  }

  @Test func `what is added to a manifest after it was opened is not read`() throws {
    let fine = #"{"path":"a","size":1,"mtime_ns":1}"# + "\n"
    let reader = try ManifestReader(try place.write("m", Self.header + fine))
    let run = try run(
      program: "/bin/sh", ["-c", "cat >> '\(place.path("m"))'"], standardInput: Array(fine.utf8))
    try #require(run.exit == 0)
    #expect(try reader.next() != nil)
    #expect(try reader.next() == nil)
  }

  @Test func `a line that is too long is refused, and not held`() throws {
    let path = try place.write("m", Self.header + String(repeating: " ", count: 2 << 20))
    let reader = try ManifestReader(path)
    let error = #expect(throws: BatchError.self) { try reader.next() }
    #expect(error?.code == .manifestMalformed)
  }

  @Test func `a manifest must be a file that can be read`() throws {
    for (path, code): (LocalPath, BatchError.Code) in [
      (place.local("missing"), .manifestUnreadable), (LocalPath(place.path), .manifestUnreadable),
      ("nul\0", .manifestUnreadable), ("/dev/null", .manifestUnreadable),
    ] {
      let error = #expect(throws: BatchError.self) { try ManifestReader(path) }
      #expect(error?.code == code)
    }
  }

  @Test func `types and digests are added to files that are still the same`() throws {
    let tree = try TemporaryDirectory()
    for name in ["same", "written", "touched", "replaced", "gone", "linked"] {
      try tree.write(name, "words\n")
    }
    var files = try listed([.text(try shell("ls -d \(tree.path)/*"))])
    _ = try shell(
      """
      cd \(tree.path); echo other > written; touch -d @5 touched
      cp -p replaced t; mv t replaced; rm gone; mv linked l; ln -s l linked
      """)
    let details = ManifestDetails(
      types: MediaTypeSniffer(policy: .extension), hasDigests: true)
    for index in files.indices { details.add(to: &files[index]) }
    #expect(
      files.map { "\($0.path.lastComponent) \($0.problem?.code.rawValue ?? "")" } == [
        "gone input-missing", "linked source-changed", "replaced source-changed", "same ",
        "touched source-changed", "written source-changed",
      ])
    #expect(files[3].type == "application/octet-stream")
    #expect(
      files[3].sha256?.description
        == "ff646650bc064e5981d37e75caf62e8551f146dff3b8967dd9cf36d263480e3a")
  }

  private func shell(_ line: String) throws -> String {
    try run(program: "/bin/sh", ["-c", line]).output
  }

  @Test func `a last line that was cut is left out only if that is asked for`() throws {
    let fine = #"{"path":"a","size":1,"mtime_ns":1}"#
    for torn in [fine, String(fine.dropLast(5))] {
      let path = try place.write("m", Self.header + fine + "\n" + torn)
      let tolerant = try ManifestReader(path, acceptsTornEnd: true)
      #expect(try tolerant.next() != nil)
      #expect(try tolerant.next() == nil)
    }
    let strict = try ManifestReader(place.local("m"))
    _ = try strict.next()
    #expect(throws: BatchError.self) { try strict.next() }
    // As an editor may leave it.
    #expect(try files(Self.header + fine).count == 1)
  }
}
