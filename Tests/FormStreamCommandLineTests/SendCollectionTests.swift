import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// `send --put --make-collections`: folders that are made on a WebDAV server.
@Suite struct SendCollectionTests {
  /// A server that has folders, and refuses what is in a missing one.
  private final class Folders: Sendable {
    private let folders: Guarded<Set<String>>
    private let files = Guarded<[String]>([])
    /// The status of a request that is refused before anything else is looked at, by its method and target.
    let refusals = Guarded<[String: Int]>([:])
    let missing: Int

    init(_ folders: Set<String> = ["/"], missing: Int = 409) {
      self.folders = Guarded(folders)
      self.missing = missing
    }

    func remove(_ folder: String) { folders.withLock { _ = $0.remove(folder) } }
    var stored: [String] { files.withLock { $0.sorted() } }
    var made: Set<String> { folders.withLock(\.self) }

    func answer(_ request: RecordedRequest) -> [ScriptedStep] {
      let target = String(request.target.prefix { $0 != "?" })
      let steps = target.split(separator: "/")
      let parent = steps.count > 1 ? "/" + steps.dropLast().joined(separator: "/") + "/" : "/"
      let refusal = refusals.withLock { $0["\(request.method) \(target)"] }
      let status = folders.withLock { folders in
        if let refusal { return refusal }
        guard folders.contains(parent) else {
          return request.method == "PUT" ? missing : min(missing, 409)
        }
        if request.method == "PUT" { return 201 }
        return folders.insert(target).inserted ? 201 : 405
      }
      if status == 201, request.method == "PUT" { files.withLock { $0.append(target) } }
      return .good(status)
    }
  }

  private func tree() throws -> TemporaryDirectory {
    let place = try TemporaryDirectory()
    _ = try shell("mkdir -p 'in/a/b c' in/a/d/e", in: place)
    try place.write("in/top.txt", "0")
    for number in 0..<12 { try place.write("in/a/b c/\(number).txt", "\(number)") }
    for number in 0..<12 { try place.write("in/a/d/e/\(number).txt", "\(number)") }
    return place
  }

  @Test(arguments: [(1, 409), (8, 409), (8, 404), (8, 500)])
  func `each missing folder is made once, and all files are stored`(_ jobs: Int, _ missing: Int) throws {
    let folders = Folders(missing: missing)
    let server = try ScriptedServer { folders.answer($0) }
    let place = try tree()
    // A request with a condition is not repeated after 500.
    let condition = missing == 500 ? [] : ["-H", "If-None-Match: *"]
    let result = try run(
      "formstream",
      [
        "send", "--put", "--make-collections", "-j", "\(jobs)", "-u", "user:pass", "-H", "X-Team: 7", "-H",
        "OC-Checksum: MD5:1",
      ]
        + condition + ["\(server.url)/dav/{relative}?sig={relative}", "in"], in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(folders.stored.count == 25)
    #expect(folders.made == ["/", "/dav/", "/dav/a/", "/dav/a/b%20c/", "/dav/a/d/", "/dav/a/d/e/"])
    let asked = server.requests.filter { $0.method == "MKCOL" }
    // A folder is asked for again after the one that it is in was made, and never because of another file.
    let made = asked.filter { $0.responseStatus == 201 }
    let paths = Set(made.map { request in String(request.target.prefix { $0 != "?" }) })
    #expect(made.count == 5 && paths.count == 5)
    #expect(asked.count <= 5 + 5)
    #expect(asked.allSatisfy { $0.header("Authorization") != nil && $0.header("X-Team") == "7" })
    #expect(asked.allSatisfy { $0.header("If-None-Match") == nil && $0.header("OC-Checksum") == nil && $0.body.isEmpty })
    #expect(asked.allSatisfy { $0.target.contains("/?sig=") })
  }

  @Test func `a file with a condition is not put again after 500`() throws {
    let folders = Folders(missing: 500)
    let server = try ScriptedServer { folders.answer($0) }
    let place = try tree()
    let result = try formstream(
      "send", "--put", "--make-collections", "--retry", "0", "-H", "If-None-Match: *", "\(server.url)/dav/", "in/top.txt",
      in: place)
    #expect(result.exit != 0, "\(result.stderr)")
    #expect(server.requests.map(\.method) == ["PUT"])
  }

  @Test func `a folder that was removed is made again`() throws {
    let folders = Folders()
    let server = try ScriptedServer { request in
      let isStored = !folders.stored.isEmpty
      defer { if request.method == "PUT", !isStored, !folders.stored.isEmpty { folders.remove("/dav/") } }
      return folders.answer(request)
    }
    let place = try tree()
    let result = try formstream(
      "send", "--put", "--make-collections", "-j", "1", "\(server.url)/dav/", "in/a/b c/0.txt", "in/a/b c/1.txt", in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    // The other file may be put before the first is put again.
    #expect(server.requests.map(\.method).filter { $0 == "MKCOL" }.count == 2 && folders.stored.count == 2)
  }

  @Test func `a folder that is refused is asked for once`() throws {
    let folders = Folders()
    folders.refusals.withLock { $0["MKCOL /dav/"] = 403 }
    let server = try ScriptedServer { folders.answer($0) }
    let place = try tree()
    let result = try formstream(
      "send", "--put", "--make-collections", "-j", "1", "\(server.url)/dav/", "in/a/b c/0.txt", "in/a/b c/1.txt", in: place)
    #expect(result.exit == 1, "\(result.stderr)")
    #expect(server.requests.map(\.method) == ["PUT", "MKCOL", "PUT"])
  }

  @Test func `a file is not put again at once if its folder was there`() throws {
    let folders = Folders(["/", "/dav/"])
    folders.refusals.withLock { $0["PUT /dav/top.txt"] = 409 }
    let server = try ScriptedServer { folders.answer($0) }
    let place = try tree()
    let result = try formstream(
      "send", "--put", "--make-collections", "--retry", "0", "\(server.url)/dav/", "in/top.txt", in: place)
    #expect(result.exit == 1, "\(result.stderr)")
    #expect(server.requests.map(\.method) == ["PUT", "MKCOL"])
    // At the root, nothing can be made.
    folders.refusals.withLock { $0["PUT /top.txt"] = 409 }
    let root = try formstream(
      "send", "--put", "--make-collections", "\(server.url)/", "in/top.txt", in: place)
    #expect(root.exit == 1, "\(root.stderr)")
    #expect(server.requests.map(\.method) == ["PUT", "MKCOL", "PUT"])
  }

  @Test func `a redirect makes no folder`() throws {
    let folders = Folders()
    let server = try ScriptedServer { request in
      request.method == "MKCOL" ? .good(301, headers: [("Location", "/other/")]) : folders.answer(request)
    }
    let place = try tree()
    let result = try formstream(
      "send", "--put", "--make-collections", "--retry", "0", "\(server.url)/dav/", "in/top.txt", in: place)
    #expect(result.exit == 1, "\(result.stderr)")
    #expect(server.requests.map(\.method) == ["PUT", "MKCOL"])
  }

  @Test func `without the flag, a missing folder is a failure`() throws {
    let folders = Folders()
    let server = try ScriptedServer { folders.answer($0) }
    let place = try tree()
    let result = try formstream("send", "--put", "\(server.url)/dav/", "in/top.txt", in: place)
    #expect(result.exit == 1)
    #expect(server.requests.map(\.method) == ["PUT"])
  }

  @Test func `a folder that is there already is no error`() throws {
    let folders = Folders(["/", "/dav/"])
    // The first PUT is refused for another reason, which then passes.
    folders.refusals.withLock { $0["PUT /dav/top.txt"] = 409 }
    let server = try ScriptedServer { request in
      defer { if request.method == "MKCOL" { folders.refusals.withLock { $0 = [:] } } }
      return folders.answer(request)
    }
    let place = try tree()
    let result = try formstream(
      "send", "--put", "--make-collections", "\(server.url)/dav/", "in/top.txt", in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(server.requests.map(\.method) == ["PUT", "MKCOL", "PUT"])
  }

  @Test func `a folder that the server refuses makes the file fail`() throws {
    let folders = Folders()
    folders.refusals.withLock { $0["MKCOL /dav/"] = 403 }
    let server = try ScriptedServer { folders.answer($0) }
    let place = try tree()
    let result = try formstream(
      "send", "--put", "--make-collections", "--json", "\(server.url)/dav/", "in/top.txt", in: place)
    #expect(result.exit == 1, "\(result.stderr)")
    #expect(server.requests.map(\.method) == ["PUT", "MKCOL"])
    #expect(result.output.contains(#""state":"failed""#) || result.output.contains(#""outcome":"failed""#), "\(result.output)")
    #expect(result.output.contains("/dav/ could not be made: "), "\(result.output)")
    #expect(result.output.contains("responded 403 to MKCOL"), "\(result.output)")
  }

  @Test func `the folder of a secret URL is not shown`() throws {
    let folders = Folders()
    folders.refusals.withLock { $0["MKCOL /canary/"] = 403 }
    let server = try ScriptedServer { folders.answer($0) }
    let place = try tree()
    try place.write("url", "\(server.url)/canary/{name}\n")
    _ = try shell("chmod 600 url", in: place)
    let result = try formstream("send", "--put", "--make-collections", "--json", "--url-file", "url", "in/top.txt", in: place)
    #expect(server.requests.map(\.method) == ["PUT", "MKCOL"])
    #expect(result.output.contains("The folder \(server.url)/*** could not be made: "), "\(result.output)")
    #expect(!(result.output + result.stderr).contains("canary"), "\(result.output)\(result.stderr)")
  }

  /// The server's words about the file were shown as words about the folder, with the status of the file.
  @Test(arguments: [(401, "Use credentials"), (403, "Use credentials"), (507, "choose another place")])
  func `the status and the words of a failed file are those about its folder`(_ status: Int, _ remedy: String) throws {
    let server = try ScriptedServer { request in
      request.method == "PUT" ? .good(409, body: "No such parent.") : .good(status, body: "Not with this plan.")
    }
    let place = try tree()
    let result = try formstream(
      "send", "--put", "--make-collections", "--retry", "0", "--json", "--journal", "j", "\(server.url)/dav/", "in/top.txt",
      in: place)
    #expect(result.exit == 1, "\(result.stderr)")
    #expect(server.requests.map(\.method) == ["PUT", "MKCOL"])
    let record = try #require(result.output.split(separator: "\n").first.map(String.init))
    for text in [
      "\"url\":\"\(server.url)/dav/top.txt\",\"status\":\(status),\"outcome\":\"failed\"", "\"body\":\"Not with this plan.\"",
      "\"code\":\"folder-not-made\"", "responded 409 to PUT. The folder \(server.url)/dav/ could not be made: ",
      "responded \(status) to MKCOL", remedy,
    ] {
      #expect(record.contains(text), "\(text): \(record)")
    }
    #expect(!result.output.contains("No such parent."), "\(result.output)")
    #expect(result.stderr.contains("folder-not-made \(status)"), "\(result.stderr)")
    let journal = try shell("cat j/journal*", in: place).output
    #expect(journal.contains(record), "\(journal)")
    // The words alone would seem to be about the file.
    let report = try formstream("report", "--failures", "j", in: place)
    let fields = report.output.split(separator: "\t").map(String.init)
    #expect(fields.dropFirst().prefix(2) == ["failed", "\(status)"], "\(report.output)")
    #expect(fields.last?.contains("/dav/ could not be made: ") == true, "\(report.output)")
    #expect(fields.last?.contains("The server says: Not with this plan.") == true, "\(report.output)")
  }

  @Test func `without the server's word about a folder, no file counts as stored`() throws {
    let folders = Folders()
    let server = try ScriptedServer { request in
      request.method == "MKCOL" ? [.readBody, .close] : folders.answer(request)
    }
    let place = try tree()
    let result = try formstream(
      "send", "--put", "--make-collections", "--retry", "0", "--json", "\(server.url)/dav/", "in/top.txt",
      in: place)
    #expect(result.exit == 75, "\(result.stderr)")
    #expect(result.output.contains(#""status":null,"outcome":"retryable""#), "\(result.output)")
    #expect(folders.stored.isEmpty)
    // Another MKCOL does no harm, and its response says whether the folder is there: nobody has to ask.
    #expect(!result.output.contains("sk the server"), "\(result.output)")
    #expect(result.output.contains("Send the file again later."), "\(result.output)")
  }

  @Test func `after a busy server, the folder is asked for again`() throws {
    let folders = Folders()
    let isBusy = Guarded(true)
    let server = try ScriptedServer { request in
      let wasBusy = isBusy.withLock { isBusy in
        defer { isBusy = isBusy && request.method != "MKCOL" }
        return isBusy
      }
      if wasBusy, request.method == "MKCOL" {
        return .good(503, headers: [("Retry-After", "0")])
      }
      return folders.answer(request)
    }
    let place = try tree()
    let result = try formstream(
      "send", "--put", "--make-collections", "--json", "\(server.url)/dav/", "in/top.txt", in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(server.requests.map(\.method) == ["PUT", "MKCOL", "PUT", "MKCOL", "PUT"])
    #expect(result.output.contains(#""status":201,"outcome":"ok""#), "\(result.output)")
  }

  @Test func `the flag is for put`() throws {
    let place = try tree()
    let result = try formstream("send", "--make-collections", "http://127.0.0.1:1/", "in/top.txt", in: place)
    #expect(result.exit == 64)
    #expect(result.stderr.contains("add --put"), "\(result.stderr)")
  }

  @Test(arguments: RealServer.Kind.allCases)
  func `a tree is stored by nginx and by Apache`(_ kind: RealServer.Kind) throws {
    var options = RealServer.Options()
    options.storesFiles = true
    let server = try RealServer(kind, to: 1, nil, options)
    let place = try tree()
    try place.write("in/empty", "")
    let without = try formstream("send", "--put", "\(server.url)/dav/", "in/a", in: place)
    #expect(without.exit != 0, "\(without.stderr)")
    // The second time, the folders are there.
    for _ in 0..<2 {
      let result = try formstream(
        "send", "--put", "--make-collections", "-j", "8", "\(server.url)/dav/x/{relative}", "in", in: place)
      #expect(result.exit == 0, "\(kind): \(result.stderr)")
      let difference = try run(
        program: "/usr/bin/diff", ["-r", place.path("in"), "\(server.files)/dav/x"], in: place)
      #expect((difference.exit, difference.output) == (0, ""))
    }
  }
}
