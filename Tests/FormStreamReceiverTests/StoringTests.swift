import FormStreamMultipart
import FormStreamTestSupport
import Glibc
import Testing

/// What a response says about the files of an upload.
@Suite struct StoringTests {
  /// Another file system is mounted in the directory: a file can't be moved there, which only the attempt shows.
  @Test(.enabled(if: SmallDisk.isAllowed, "a file system can't be mounted here"))
  func `if an upload fails after its files replaced others, the response says what is stored`()
    async throws
  {
    let server = try DirectoryServer(overwrites: true)
    try makeDirectory(server.directory.local("disk"))
    let disk = server.directory.path("disk")
    let mount = try run(program: "/bin/mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", disk])
    #expect(mount.exit == 0, "\(mount.stderr)")
    defer { _ = try? run(program: "/bin/umount", ["--lazy", disk]) }
    try server.directory.write("old", "old")
    try server.directory.write("disk/x", "old")
    let body =
      ["new", "old", "disk/x"].map {
        "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"\($0)\"\r\n\r\nnew\r\n"
      }.joined() + "--b--\r\n"
    let type = "Content-Type: multipart/form-data; boundary=b"
    let response = try await server.put(body, type, method: "POST")
    #expect(response.status == 500, "\(response)")
    #expect(server.names == ["disk", "old"])
    #expect(try server.text("old") == "new")
    #expect(response.text.split(separator: "\"stored_as\":\"").count == 2, "\(response)")
    #expect(response.text.contains("\"stored_as\":\"old\""), "\(response)")
    #expect(response.text.contains("1 of its files had already replaced another"), "\(response)")
    let page = try await server.put(body, type, "Accept: text/html", method: "POST")
    #expect(page.text.contains("<h1>Not everything was stored</h1>"), "\(page)")
    #expect(page.text.contains("Stored as <bdi>old</bdi>"), "\(page)")
  }

  @Test(.enabled(if: SmallDisk.isAllowed, "a file system can't be mounted here"))
  func `a client learns that there is no room before it sends the body`() async throws {
    let directory = try TemporaryDirectory()
    let mount = try run(
      program: "/bin/mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", directory.path])
    #expect(mount.exit == 0, "\(mount.stderr)")
    defer { _ = try? run(program: "/bin/umount", ["--lazy", directory.path]) }
    let server = try DirectoryServer(in: directory)
    let response = try await server.response(
      to: "PUT /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5000000\r\nExpect: 100-continue\r\n\r\n")
    #expect(response.status == 507, "\(response)")
    let text = String(repeating: "x", count: 3_000_000)
    #expect(try await server.put(text).status == 200)
    #expect(server.names == ["a"])
  }

  /// Only the body's length is known, so more is reserved than the first file gets.
  @Test func `room that a file does not need is released`() async throws {
    let server = try DirectoryServer()
    let body = ["a", String(repeating: "x", count: 3_000_000)].enumerated().map { index, text in
      "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"\(index)\"\r\n\r\n\(text)\r\n"
    }
    for (form, names) in [
      (body[0] + body[1], ["0", "1"]), (body[1] + body[0], ["0", "0-2", "1", "1-2"]),
    ] {
      let response = try await server.put(
        "\(form)--b--\r\n", "Content-Type: multipart/form-data; boundary=b", method: "POST")
      #expect(response.status == 200)
      #expect(server.names == names)
    }
    for name in server.names {
      var status = stat()
      #expect(stat(server.directory.path(name), &status) == 0)
      #expect(status.st_blocks * 512 < status.st_size + 65536, "\(name)")
    }
  }
}
