import FormStreamMultipart
import FormStreamReceiver
import FormStreamTestSupport
import Foundation
import Glibc
import Testing

/// Bytes that a receiver has confirmed stay as long as it is known, or may be, that they are not stored.
@Suite struct KeptBytesTests {
  private static func age(_ name: String, in directory: TemporaryDirectory, bySeconds seconds: Double) throws {
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -seconds)], ofItemAtPath: directory.path(name))
  }

  private static func name(of path: String) -> String { String(path.dropFirst()) }

  /// A request about an upload that isn't there. Like each request, it makes the receiver look for old uploads.
  private static func tidy(_ server: UploadServer) async throws {
    _ = try await server.head("/.formstream-uploads/\(String(repeating: "0", count: 32))")
  }

  private static let form = "--b\r\nContent-Disposition: form-data; name=f; filename=\"a\"\r\n\r\nabc\r\n--b--\r\n"

  /// A receiver without room for complete uploads, and a client that has sent one.
  ///
  /// - Parameters:
  ///   - age: how long uploads are kept.
  ///   - hinder: prevents that it can be noted that the upload is not stored.
  private static func full(
    _ directory: TemporaryDirectory, age: Duration = .seconds(86400), _ hinder: @escaping @Sendable () throws -> Void
  ) throws -> (Receiver, RawClient) {
    var uploads = Receiver.ResumableUploads(in: LocalPath(directory.path))
    (uploads.minimumSize, uploads.age) = (0, age)
    var configuration = Receiver.Configuration()
    configuration.resumableUploads = uploads
    let handler = try DirectoryHandler(LocalPath(directory.path)).responding { _ in
      try hinder()
      throw UploadRefusal(.init(rawValue: "no-room"), status: 507, "There is no room.")
    }
    let receiver = try Receiver.start(configuration, handler: handler)
    let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
    try client.send(
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; boundary=b\r\n"
        + "Content-Length: \(form.utf8.count)\r\nUpload-Complete: ?1\r\nUpload-Draft-Interop-Version: 8\r\n\r\n\(form)")
    return (receiver, client)
  }

  /// A receiver without room for complete uploads, which could not note that one is not stored. The file that takes the note back is in
  /// `aside`.
  private static func unnoted(
    _ directory: TemporaryDirectory, _ aside: TemporaryDirectory, age: Duration = .seconds(86400)
  ) throws -> (receiver: Receiver, client: RawClient, path: String) {
    let files = directory.path(".formstream-uploads")
    let (receiver, client) = try full(directory, age: age) {
      _ = try run(program: "/bin/bash", ["-c", "cd '\(files)' && mv .formstream-* '\(aside.path)'"])
    }
    let path = try #require(try client.response().headers("Location").first)
    #expect(try client.response().status == 507)
    return (receiver, client, path)
  }

  /// Puts the file back that takes the note back.
  private static func putBack(_ aside: TemporaryDirectory, to directory: TemporaryDirectory) throws {
    let files = directory.path(".formstream-uploads")
    _ = try run(program: "/bin/bash", ["-c", "mv '\(aside.path)'/.formstream-* '\(files)'"])
  }

  /// Regression: the receiver said that the bytes are kept (507). If it could not note then that they are not stored, the next request
  /// took the note for that of a receiver that was killed, and removed the bytes.
  @Test func `bytes stay if it can't be noted at once that they are not stored`() async throws {
    let directory = try TemporaryDirectory()
    let files = directory.path(".formstream-uploads")
    let (receiver, client) = try Self.full(directory) {
      // A directory has the name of the state, so that the state can't be written.
      _ = try run(
        program: "/bin/bash", ["-c", "cd '\(files)' && for f in *.json; do mv $f aside-$f && mkdir $f; done"])
    }
    let path = try #require(try client.response().headers("Location").first)
    let full = try client.response()
    #expect(full.status == 507 && full.headers("Upload-Complete") == ["?0"], "\(full)")
    func head() throws -> WireResponse {
      let client = try RawClient(.ip("127.0.0.1", port: receiver.port))
      try client.send("HEAD \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
      return try client.response(toHead: true)
    }
    let early = try head()
    #expect(early.status == 500, "\(early)")
    _ = try run(
      program: "/bin/bash", ["-c", "cd '\(files)' && for f in aside-*; do rmdir ${f#aside-} && mv $f ${f#aside-}; done"])
    let late = try head()
    #expect(late.headers("Upload-Complete") == ["?0"], "\(late)")
    #expect(late.headers("Upload-Offset") == ["\(Self.form.utf8.count)"], "\(late)")
    #expect(directory.size(of: Self.name(of: path)) == Self.form.utf8.count)
    await receiver.stop()
  }

  /// Regression: the other receiver took the note for that of a receiver that was killed, and removed the bytes.
  @Test func `bytes stay if another receiver looks at them before it can be noted that they are not stored`() async throws {
    let (directory, aside) = (try TemporaryDirectory(), try TemporaryDirectory())
    let (receiver, client, path) = try Self.unnoted(directory, aside)
    let other = try UploadServer(in: directory)
    let early = try await other.head(path)
    #expect(early.status == 503, "\(early)")
    #expect(directory.size(of: Self.name(of: path)) == Self.form.utf8.count)
    try Self.putBack(aside, to: directory)
    try client.send("HEAD \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
    let late = try client.response(toHead: true)
    #expect(late.headers("Upload-Offset") == ["\(Self.form.utf8.count)"], "\(late)")
    // Now the other receiver can go on with it.
    let last = try await other.patch(path, "", at: Self.form.utf8.count, completes: true)
    #expect(last.status == 200, "\(last)")
    #expect(try other.server.text("a") == "abc")
    await receiver.stop()
  }

  /// Regression: the upload was in use for all other receivers until a client asked this one for it.
  @Test func `a receiver notes later by itself that bytes are not stored`() async throws {
    let (directory, aside) = (try TemporaryDirectory(), try TemporaryDirectory())
    let (receiver, _, path) = try Self.unnoted(directory, aside, age: .seconds(40))
    try Self.putBack(aside, to: directory)
    let state = directory.path("\(Self.name(of: path)).json")
    #expect(await eventually { (try? String(contentsOfFile: state, encoding: .utf8))?.contains(#""phase":"open""#) == true })
    let other = try UploadServer(in: directory)
    #expect(try await other.offset(path) == Self.form.utf8.count)
    await receiver.stop()
  }

  /// Regression: the upload seemed to be used by another receiver for ever, so it never expired.
  @Test func `an upload expires if it can't be noted that it is not stored`() async throws {
    let (directory, aside) = (try TemporaryDirectory(), try TemporaryDirectory())
    let (receiver, _, path) = try Self.unnoted(directory, aside, age: .seconds(1))
    #expect(await eventually { directory.size(of: Self.name(of: path)) == nil })
    await receiver.stop()
    #expect(try directory.names(in: ".formstream-uploads") == [])
  }

  /// Regression: the note stayed when the receiver was stopped, and the next receiver removed the bytes.
  @Test func `bytes stay if a receiver can note only at its end that they are not stored`() async throws {
    let (directory, aside) = (try TemporaryDirectory(), try TemporaryDirectory())
    let (receiver, _, path) = try Self.unnoted(directory, aside)
    try Self.putBack(aside, to: directory)
    await receiver.stop()
    let next = try UploadServer(in: directory)
    #expect(try await next.offset(path) == Self.form.utf8.count)
    #expect(directory.size(of: Self.name(of: path)) == Self.form.utf8.count)
  }

  /// Regression: it was in use (503) for ever, and never expired.
  @Test(arguments: [true, false])
  func `an upload with bytes that can't be trusted is in use for nobody`(_ isKnown: Bool) async throws {
    let directory = try TemporaryDirectory()
    let early = try UploadServer(in: directory)
    let path = try await early.beginAndBreak("abc", of: 6)
    let name = Self.name(of: path)
    let text = try early.server.text("\(name).json")
    try directory.write("\(name).json", text.replacing(#""phase":"open""#, with: #""phase":"moving""#))
    #expect(link(directory.path(name), directory.path("other")) == 0)
    let server = isKnown ? early : try UploadServer(in: directory)
    let head = try await server.head(path)
    #expect(head.status == 204 && head.headers("Upload-Complete") == ["?1"], "\(head)")
    let last = try await server.patch(path, "", at: 6, completes: true)
    #expect(last.status == 500 && last.text.contains("may be stored or not"), "\(last)")
    #expect(try server.server.text("other") == "abc")
  }

  /// Regression: the state is never written while bytes arrive, so it seemed to be old, and was removed without the bytes.
  @Test func `the files of an upload are as old as the newer one`() async throws {
    let directory = try TemporaryDirectory()
    let first = try UploadServer(in: directory)
    let path = try await first.beginAndBreak("abc", of: 6)
    let name = Self.name(of: path)
    // For a moment, the bytes can't be trusted: they have two names.
    #expect(link(directory.path(name), directory.path("other")) == 0)
    try Self.age("\(name).json", in: directory, bySeconds: 100_000)
    let second = try UploadServer(in: directory)
    #expect(unlink(directory.path("other")) == 0)
    #expect(second.uploadFiles.count == 2)
    #expect(try await second.offset(path) == 3)
    // Both go together.
    #expect(link(directory.path(name), directory.path("other")) == 0)
    try Self.age(name, in: directory, bySeconds: 100_000)
    #expect(try UploadServer(in: directory).uploadFiles == [])
  }

  /// Regression: each look at an upload that could not be opened counted as if another receiver had used it.
  @Test func `an upload that can't be opened for a while gets no older for that, and no younger`() async throws {
    let directory = try TemporaryDirectory()
    let first = try UploadServer(in: directory)
    let path = try await first.beginAndBreak("abc", of: 6)
    let name = Self.name(of: path)
    try Self.age(name, in: directory, bySeconds: 998)
    let server = try UploadServer(in: directory) { $0.age = .seconds(1000) }
    // Nothing can open a program for writing while it runs (ETXTBSY).
    let file = directory.path(name)
    _ = try run(program: "/bin/bash", ["-c", "cat /bin/sleep > \(file); chmod 700 \(file)"])
    try Self.age(name, in: directory, bySeconds: 998)
    let program = try Process.run(URL(fileURLWithPath: file), arguments: ["60"])
    let end = time(nil) + 3
    #expect(await eventually { time(nil) > end })
    try await Self.tidy(server)
    #expect(server.uploadFiles.count == 2)
    program.terminate()
    program.waitUntilExit()
    let late = time(nil) + 1
    #expect(await eventually { time(nil) > late })
    try await Self.tidy(server)
    #expect(server.uploadFiles == [])
  }
}
