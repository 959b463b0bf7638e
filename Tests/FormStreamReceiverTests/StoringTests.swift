import FormStreamMultipart
import FormStreamTestSupport
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
}
