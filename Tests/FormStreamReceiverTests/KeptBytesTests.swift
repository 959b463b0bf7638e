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
  /// - Parameter hinder: prevents that it can be noted that the upload is not stored.
  private static func full(
    _ directory: TemporaryDirectory, _ hinder: @escaping @Sendable () throws -> Void
  ) throws -> (Receiver, RawClient) {
    var uploads = Receiver.ResumableUploads(in: LocalPath(directory.path))
    uploads.minimumSize = 0
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
    let files = directory.path(".formstream-uploads")
    let (receiver, client) = try Self.full(directory) {
      // The file that takes the note back is away.
      _ = try run(program: "/bin/bash", ["-c", "cd '\(files)' && mv .formstream-* '\(aside.path)'"])
    }
    let path = try #require(try client.response().headers("Location").first)
    #expect(try client.response().status == 507)
    let other = try UploadServer(in: directory)
    let early = try await other.head(path)
    #expect(early.status == 503, "\(early)")
    #expect(directory.size(of: Self.name(of: path)) == Self.form.utf8.count)
    _ = try run(program: "/bin/bash", ["-c", "mv '\(aside.path)'/.formstream-* '\(files)'"])
    try client.send("HEAD \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
    let late = try client.response(toHead: true)
    #expect(late.headers("Upload-Offset") == ["\(Self.form.utf8.count)"], "\(late)")
    // Now the other receiver can go on with it.
    let last = try await other.patch(path, "", at: Self.form.utf8.count, completes: true)
    #expect(last.status == 200, "\(last)")
    #expect(try other.server.text("a") == "abc")
    await receiver.stop()
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
