import FormStream
import FormStreamTestSupport
import Foundation
import Testing
import FormStreamTransfer

/// Names that servers and URLs give to files, harmless and hostile: where each goes.
@Suite struct DownloadNameTests {
  /// Values of `Content-Disposition`, and the names of the files, derived from RFC 6266 and from what a safe name is. If a
  /// value names nothing usable, the URL does: `from-url.bin`.
  private static let corpus: [(value: String, name: String)] = [
    // Harmless.
    ("attachment; filename=a.txt", "a.txt"),
    ("attachment; filename=\"a b.txt\"", "a b.txt"),
    ("inline; filename=\"page.html\"", "page.html"),
    ("ATTACHMENT; FILENAME=\"A.TXT\"", "A.TXT"),
    ("attachment; filename=\"a;b.txt\"", "a;b.txt"),
    ("attachment; filename=\"it's.txt\"", "it's.txt"),
    ("attachment; filename=\"a\\\"b.txt\"", "a_b.txt"),
    ("attachment; filename=\"50%.txt\"", "50%.txt"),
    ("attachment; filename=\"a%20b.txt\"", "a%20b.txt"),
    ("attachment; filename*=UTF-8''%e2%82%ac%20rates.txt", "€ rates.txt"),
    ("attachment; filename*=utf-8'en'na%C3%AFve.txt", "naïve.txt"),
    ("attachment; filename*=iso-8859-1''%A3.txt", "£.txt"),
    ("attachment; filename=\"plain.txt\"; filename*=UTF-8''%C3%BC.txt", "ü.txt"),
    ("attachment; filename*=UTF-8''%C3%BC.txt; filename=\"plain.txt\"", "ü.txt"),
    ("attachment; filename=\"naïve.txt\"", "naïve.txt"),
    ("attachment; filename=\"a.tar.gz\"; size=10", "a.tar.gz"),
    // Out of the directory.
    ("attachment; filename=\"../a.txt\"", "a.txt"),
    ("attachment; filename=\"../../../../etc/passwd\"", "passwd"),
    ("attachment; filename=\"/etc/passwd\"", "passwd"),
    ("attachment; filename=\"//host/share/a.txt\"", "a.txt"),
    ("attachment; filename=\"..\\\\..\\\\a.txt\"", "a.txt"),
    ("attachment; filename=\"C:\\\\Windows\\\\a.dll\"", "a.dll"),
    ("attachment; filename=\"C:a.txt\"", "C_a.txt"),
    ("attachment; filename=\"a.txt:stream\"", "a.txt_stream"),
    ("attachment; filename=\"sub/dir/a.txt\"", "a.txt"),
    ("attachment; filename*=UTF-8''..%2F..%2Fetc%2Fpasswd", "passwd"),
    ("attachment; filename*=UTF-8''%2Fetc%2Fcron.d%2Fjob", "job"),
    ("attachment; filename*=UTF-8''..%5C..%5Ca.txt", "a.txt"),
    ("attachment; filename=\"..%2F..%2Fetc%2Fpasswd\"", "_.%2F..%2Fetc%2Fpasswd"),
    ("attachment; filename=\"a.txt/\"", "a.txt"),
    ("attachment; filename=\"a.txt/..\"", "from-url.bin"),
    // Nothing usable.
    ("attachment; filename=\"..\"", "from-url.bin"),
    ("attachment; filename=\".\"", "from-url.bin"),
    ("attachment; filename=\"/\"", "from-url.bin"),
    ("attachment; filename=\"\"", "from-url.bin"),
    ("attachment; filename=\"   \"", "from-url.bin"),
    ("attachment; filename=\"...\"", "from-url.bin"),
    ("attachment; filename*=UTF-8''%2E%2E", "from-url.bin"),
    ("attachment", "from-url.bin"),
    ("attachment; filename", "from-url.bin"),
    ("attachment; filename=\"a.txt\"; filename=\"b.txt\"", "from-url.bin"),
    ("attachment; filename=\"no end", "from-url.bin"),
    // Malformed, and understood by browsers and curl: without a type, with a path or blanks that are not quoted, with more
    // after the name.
    ("filename=\"a.txt\"", "a.txt"),
    ("filename=name1311; charset=funny; option=strange", "name1311"),
    ("inline; filename=name1340; charset=funny; option=strange", "name1340"),
    ("filename=log/server/name1584", "name1584"),
    ("filename=log\\server\\name1585", "name1585"),
    ("attachment; filename=log/server/name.txt; x", "name.txt"),
    ("attachment; filename=a b.txt", "a b.txt"),
    ("attachment; filename=a b.txt ; size=5", "a b.txt"),
    ("attachment; filename=ä(1).txt", "ä(1).txt"),
    ("attachment; FileName = \"a;b.txt\" ; odd thing", "a;b.txt"),
    ("attachment; filename=\"a.txt\" junk; x=y", "a.txt"),
    ("attachment; size=; filename='a.txt'", "'a.txt'"),
    ("attachment;; filename=../../etc/passwd", "passwd"),
    ("filename=; filename*=UTF-8''%C3%A4.txt", "ä.txt"),
    ("filename=a b; filename*=UTF-8''c%2Fd.txt", "d.txt"),
    ("filename=../..", "from-url.bin"),
    ("filename=a b; filename=c d", "from-url.bin"),
    ("x; myfilename=a b.txt", "from-url.bin"),
    ("x; y=\"; filename=a.txt\" z", "from-url.bin"),
    (";;;", "from-url.bin"),
    // Malformed extended values: the plain one is used.
    ("attachment; filename*=UTF-8''%ZZ.txt; filename=\"plain.txt\"", "plain.txt"),
    ("attachment; filename*=UTF-8''%FF%FE.txt; filename=\"plain.txt\"", "plain.txt"),
    ("attachment; filename*=UTF-8'%41.txt; filename=\"plain.txt\"", "plain.txt"),
    ("attachment; filename*=shift_jis''%83.txt; filename=\"plain.txt\"", "plain.txt"),
    // Hidden files, flags, and what programs treat as commands.
    ("attachment; filename=\".bashrc\"", "_bashrc"),
    ("attachment; filename=\"../.ssh/authorized_keys\"", "authorized_keys"),
    ("attachment; filename=\".htaccess\"", "_htaccess"),
    ("attachment; filename=\"-rf\"", "_rf"),
    ("attachment; filename=\"--help.txt\"", "_-help.txt"),
    ("attachment; filename=\"~root\"", "_root"),
    ("attachment; filename=\"+x\"", "_x"),
    ("attachment; filename=\"@list\"", "_list"),
    ("attachment; filename=\"|sh\"", "_sh"),
    ("attachment; filename=\"a*?.txt\"", "a__.txt"),
    ("attachment; filename=\"<script>.html\"", "_script_.html"),
    ("attachment; filename=\".formstream-1\"", "_formstream-1"),
    // Characters that are invisible, end lines, end C strings, or change the direction of text.
    ("attachment; filename*=UTF-8''a%00.txt", "a_.txt"),
    ("attachment; filename*=UTF-8''a%0Ab.txt", "a_b.txt"),
    ("attachment; filename*=UTF-8''a%0D%0Ab.txt", "a__b.txt"),
    ("attachment; filename*=UTF-8''a%1B%5B31mb.txt", "a_[31mb.txt"),
    ("attachment; filename*=UTF-8''a%7Fb.txt", "a_b.txt"),
    ("attachment; filename*=UTF-8''a%C2%85b.txt", "a_b.txt"),
    ("attachment; filename*=UTF-8''photo%E2%80%AEgpj.exe", "photo_gpj.exe"),
    ("attachment; filename*=UTF-8''a%E2%80%A8b.txt", "a_b.txt"),
    ("attachment; filename*=UTF-8''%EF%BB%BFa.txt", "_a.txt"),
    ("attachment; filename*=UTF-8''%E2%81%A6a%E2%81%A9.txt", "_a_.txt"),
    // Names that other systems reserve or change.
    ("attachment; filename=\"CON\"", "_CON"),
    ("attachment; filename=\"nul.txt\"", "_nul.txt"),
    ("attachment; filename=\"COM1.log\"", "_COM1.log"),
    ("attachment; filename=\"a.txt. . .\"", "a.txt"),
    ("attachment; filename=\" a.txt \"", "a.txt"),
    // Too long.
    (
      "attachment; filename=\"\(String(repeating: "a", count: 300)).txt\"",
      String(repeating: "a", count: 236) + ".txt"
    ),
    // The names of this program's own files: another file's part and its record.
    ("attachment; filename=\"from-url.bin.part\"", "from-url.bin-2.part"),
    ("attachment; filename=\"from-url.bin.part.json\"", "from-url.bin.part-2.json"),
    // A file that is there.
    ("attachment; filename=\"taken.txt\"", "taken-2.txt"),
    ("attachment; filename=\"../taken.txt\"", "taken-2.txt"),
    // Links to files and directories elsewhere are names that are taken.
    ("attachment; filename=\"link.txt\"", "link-2.txt"),
    ("attachment; filename=\"link-to-directory/a.txt\"", "a.txt"),
    ("attachment; filename=\"link-to-directory\"", "link-to-directory-2"),
    ("attachment; filename=\"directory\"", "directory-2"),
  ]

  @Test func `each name goes to one file in the directory, and nothing else changes`() async throws {
    #expect(Self.corpus.count >= 60)
    let server = try ScriptedServer { request in
      let value = Self.corpus[request.number].value
      return [.respond(200, headers: [("Content-Disposition", value)], body: "new")]
    }
    let session = try makeSession()
    for (value, name) in Self.corpus {
      let place = try TemporaryDirectory()
      let files = FileManager.default
      try files.createDirectory(
        atPath: place.path("downloads/directory"), withIntermediateDirectories: true)
      try files.createDirectory(atPath: place.path("elsewhere"), withIntermediateDirectories: false)
      for kept in ["taken.txt", "downloads/taken.txt", "passwd", "a.txt"] {
        try place.write(kept, "old")
      }
      try files.createSymbolicLink(
        atPath: place.path("downloads/link.txt"), withDestinationPath: place.path("passwd"))
      try files.createSymbolicLink(
        atPath: place.path("downloads/link-to-directory"),
        withDestinationPath: place.path("elsewhere"))
      let before = try contents(of: place)
      let file = try await session.download(
        "\(server.url)/dir/from-url.bin?query=../x",
        DownloadSettings(.directory(place.path("downloads"), named: .server)))
      #expect(file.path.description == place.path("downloads/\(name)"), "\(value)")
      var after = try contents(of: place)
      #expect(after.removeValue(forKey: "downloads/\(name)") == "new", "\(value)")
      #expect(after == before, "\(value)")
    }
    #expect(server.faults == [])
  }

  /// The paths of everything below a directory, and the contents of files.
  private func contents(of place: TemporaryDirectory) throws -> [String: String] {
    var contents: [String: String] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: place.path) {
      contents[path] = place.bytes(path).map { String(decoding: $0, as: UTF8.self) } ?? "none"
    }
    return contents
  }

  @Test(arguments: [
    ("/dir/a.txt", "a.txt"), ("/dir/a.txt?b=/c.txt", "a.txt"), ("/dir/a.txt#b", "a.txt"),
    ("/dir/", "download"), ("", "download"), ("?a=/b", "download"), ("/a%20b.txt", "a b.txt"),
    ("/a+b.txt", "a+b.txt"), ("/%2e%2e%2fpasswd", "passwd"), ("/.%2e", "download"),
    ("/%2Fetc%2Fpasswd", "passwd"), ("/%00.txt", "_.txt"), ("/%ff.txt", "%ff.txt"),
    ("/.bashrc", "_bashrc"), ("/-rf", "_rf"), ("/%E2%82%AC.txt", "€.txt"),
    ("/a.part", "a.part"), ("/..%5Ca.txt", "a.txt"),
  ])
  func `a URL names a file`(_ path: String, _ name: String) async throws {
    let place = try TemporaryDirectory()
    // The server's name is not asked for.
    let server = try ScriptedServer { _ in
      [.respond(200, headers: [("Content-Disposition", "attachment; filename=other")], body: "new")]
    }
    try await makeSession().download(
      server.url + path, DownloadSettings(.directory(place.path)))
    #expect(try place.names == [name])
  }

  @Test func `a name from the server can't replace a file`() async throws {
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { _ in [.unexpected] }
    let error = await #expect(throws: TransferError.self) {
      try await makeSession().download(
        server.url,
        DownloadSettings(.directory(place.path, named: .server, ifTaken: .replace)))
    }
    #expect(error?.code == .invalidSetting)
    #expect(server.connections.isEmpty)
  }

  @Test func `a name that is taken is refused before a byte is stored`() async throws {
    let place = try TemporaryDirectory()
    try place.write("a.txt", "old")
    let server = try ScriptedServer { _ in
      [
        .respond(
          200, headers: [("Content-Disposition", "attachment; filename=a.txt")], body: "new")
      ]
    }
    let session = try makeSession()
    for (destination, requests) in [
      (DownloadDestination.file(place.path("a.txt"), ifTaken: .refuse), 0),
      (.directory(place.path, named: .server, ifTaken: .refuse), 1),
    ] {
      let error = await #expect(throws: TransferError.self) {
        try await session.download("\(server.url)/b.txt", DownloadSettings(destination))
      }
      #expect(error?.code == .destinationExists)
      #expect(server.requests.count == requests)
      #expect(try place.names == ["a.txt"])
      #expect(place.bytes("a.txt") == Array("old".utf8))
    }
  }
}
