import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// Invalid databases of libmagic, and many callers at once.
@Suite struct DatabaseTests {
  private static let png: [UInt8] = [
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D, 0x49, 0x48, 0x44, 0x52, 0, 0, 0,
    1, 0,
    0, 0, 1, 8, 6, 0, 0, 0, 0x1F, 0x15, 0xC4, 0x89,
  ]
  /// The first bytes of a compiled database; the version follows.
  private static let mark: [UInt8] = [0x1C, 0x04, 0x1E, 0xF1]

  @Test(
    arguments: [
      ("missing", nil, "can't be read: No such file"),
      ("empty", [], "can't be read"),
      ("text", Array("just text".utf8), "not a database that libmagic can use"),
      (
        "turned around", Array(mark.reversed()) + [UInt8](repeating: 0, count: 100),
        "is from a machine with another byte order"
      ),
      (
        "old", mark + [1, 0, 0, 0] + [UInt8](repeating: 0, count: 1000),
        "not a database that libmagic can use"
      ),
      ("cut", mark + [18, 0, 0, 0, 1], "not a database that libmagic can use"),
    ] as [(String, [UInt8]?, String)])
  func `an unusable database is a warning, and extensions still decide`(
    _ name: String, _ bytes: [UInt8]?, _ says: String
  ) throws {
    let place = try TemporaryDirectory()
    if let bytes { try place.write("magic.mgc", bytes) }
    let sniffer = MediaTypeSniffer(database: place.local("magic.mgc"))
    #expect(sniffer.warning?.code == .databaseUnusable)
    #expect(
      sniffer.warning?.description.contains(says) == true, "\(sniffer.warning?.description ?? "")")
    let detected = Self.png.withUnsafeBytes { sniffer.type(of: $0, filename: "a.gif") }
    #expect(detected.type == "image/gif")
    #expect(detected.source == .extension)
    let unknown = Self.png.withUnsafeBytes { sniffer.type(of: $0, filename: "a") }
    #expect(unknown.source == .default)
  }

  @Test func `a policy that reads nothing needs no database`() throws {
    let place = try TemporaryDirectory()
    for policy in [SniffingPolicy.extension, .none] {
      #expect(MediaTypeSniffer(policy: policy, database: place.local("missing")).warning == nil)
    }
  }

  /// Lines of a database that fit nothing: libmagic 5.46 takes one with fewer than three entries for damaged.
  private static let others = (1...3).map { "0\tstring\tOTHER\($0)\tdescription\n" }.joined()

  /// A database may contain any text as a type. One that would break a header is not a type.
  @Test(arguments: ["text/x\\r\\nX-Evil: 1", "a b/c", "notype"])
  func `an invalid type from a database is ignored`(_ type: String) throws {
    let place = try TemporaryDirectory()
    try place.write("evil", "0\tstring\tEVIL\tdescription\n!:mime\t\(type)\n" + Self.others)
    let compiled = try run(program: "/usr/bin/env", ["file", "-C", "-m", "evil"], in: place)
    #expect(compiled.exit == 0, "\(compiled.stderr)")
    let sniffer = MediaTypeSniffer(policy: .content, database: place.local("evil.mgc"))
    #expect(sniffer.warning == nil, "\(sniffer.warning?.description ?? "")")
    let detected = Array("EVIL bytes".utf8).withUnsafeBytes { sniffer.type(of: $0) }
    #expect(!detected.type.description.contains("\n") && !detected.type.description.contains("\r"))
    #expect(MediaType(detected.type.description) != nil)
  }

  /// Regression: with libmagic 5.46, which looks for the end of an archive, they were unknown bytes.
  @Test func `an archive of ZIP is one by its first bytes, even for a database that doesn't know them`() throws {
    let place = try TemporaryDirectory()
    try place.write("other", Self.others)
    let compiled = try run(program: "/usr/bin/env", ["file", "-C", "-m", "other"], in: place)
    #expect(compiled.exit == 0, "\(compiled.stderr)")
    let sniffer = MediaTypeSniffer(database: place.local("other.mgc"))
    let noise = (0..<200).map { UInt8(truncatingIfNeeded: $0 &* 193) }
    let found = [
      ([0x50, 0x4B, 3, 4] + noise, "a"), ([0x50, 0x4B, 5, 6] + noise, "a"),
      ([0x50, 0x4B, 3, 4] + noise, "a.docx"), ([0x50, 0x4B, 1, 2] + noise, "a"), (noise, "a"),
    ].map { bytes, name in
      bytes.withUnsafeBytes { sniffer.type(of: $0, filename: name).type.description }
    }
    let docx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    let unknown = "application/octet-stream"
    #expect(found == ["application/zip", "application/zip", docx, unknown, unknown])
  }

  @Test func `a file that can't be sniffed is an error that says why`() throws {
    let place = try TemporaryDirectory()
    let sniffer = MediaTypeSniffer()
    func code(_ path: LocalPath) -> MediaTypesError.Code? {
      do throws(MediaTypesError) {
        _ = try sniffer.type(of: path)
        return nil
      } catch {
        return error.code
      }
    }
    #expect(code(place.local("missing")) == .inputMissing)
    #expect(code(place.local("")) == .inputUnreadable)
    #expect(code("/dev/zero") == .inputUnreadable)
    #expect(code("a\0b") == .inputMissing)
  }

  @Test func `sniffing an open file does not change its offset`() throws {
    let place = try TemporaryDirectory()
    try place.write("x", Self.png)
    let file = try OpenFile(place.local("x"))
    let detected = try MediaTypeSniffer().type(ofDescriptor: file.descriptor, filename: "x.txt")
    #expect(detected.type == "image/png")
    #expect(file.offset == 0)
  }

  @Test func `many files are returned in order, and many callers get the right types`() async throws {
    let place = try TemporaryDirectory()
    try place.write("png", Self.png)
    try place.write("text", "some words\n")
    let sniffer = MediaTypeSniffer()
    let paths = (0..<500).map {
      place.local($0 % 3 == 0 ? "png" : $0 % 3 == 1 ? "text" : "missing")
    }
    let stream = AsyncStream<LocalPath> { out in
      for path in paths { out.yield(path) }
      out.finish()
    }
    var index = 0
    for try await file in sniffer.types(of: stream) {
      #expect(file.path == paths[index])
      let type = try? file.result.get().type
      #expect(type == (index % 3 == 0 ? "image/png" : index % 3 == 1 ? "text/plain" : nil))
      index += 1
    }
    #expect(index == 500)
    await withTaskGroup(of: Bool.self) { group in
      for number in 0..<200 {
        group.addTask {
          let path = place.local(number % 2 == 0 ? "png" : "text")
          return (try? sniffer.type(of: path).type)
            == (number % 2 == 0 ? "image/png" : "text/plain")
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }
}
