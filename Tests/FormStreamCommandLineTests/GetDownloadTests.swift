import FormStreamPlatform
import FormStreamTestSupport
import Foundation
import Glibc
import Testing

/// Waits until a file has that many bytes.
private func waitForSize(_ path: String, _ size: Int) {
  let deadline = ContinuousClock.now + .seconds(30)
  while ContinuousClock.now < deadline {
    var status = stat()
    if stat(path, &status) == 0, Int(status.st_size) >= size { return }
    usleep(1000)
  }
}

/// Starts `get` without waiting for its end.
private func start(
  _ arguments: String..., in place: TemporaryDirectory
) throws -> RunningProgram {
  try RunningProgram(
    program: builtBinary("formstream"), rawArguments: (["get"] + arguments).map { Array($0.utf8) },
    in: place)
}

/// `formstream get` to files: they are complete or not there, and go on where they ended.
@Suite struct GetDownloadTests {
  /// After kill -9 a new process knows only what is on the disk. `make test-get` does this at fifty random moments.
  @Test(arguments: [SIGKILL, SIGINT, SIGTERM])
  func `a download that is ended goes on where it ended`(_ signal: Int32) throws {
    let resource = ContinuableResource(bytes: noise(8 << 20))
    let place = try TemporaryDirectory()
    let (pid, path) = (Guarded<Int32>(0), place.path("f.part"))
    let ends = [100, 65_536, 1 << 20, 3_000_000, 7_999_999]
    let server = try ScriptedServer { request in
      guard request.number < ends.count else { return resource.response(to: request) }
      let end = ends[request.number]
      return resource.response(to: request, upTo: end) + [
        .call {
          waitForSize(path, end)
          kill(pid.withLock { $0 }, signal)
        }, .stall,
      ]
    }
    for _ in ends {
      let program = try start("-q", "-C", "-", "-o", "f", server.url, in: place)
      pid.withLock { $0 = program.pid }
      let end = try program.wait()
      #expect(end.signal == signal, "\(end.stderr)")
      #expect(!FileManager.default.fileExists(atPath: place.path("f")))
    }
    let last = try formstream("get", "--json", "-C", "-", "-o", "f", server.url, in: place)
    #expect(last.exit == 0, "\(last.stderr)")
    #expect(last.output.contains(#""resumed_from":7999999,"stored_as":"f""#), "\(last.output)")
    #expect(try shell("ls -A", in: place).output == "f\n")
    #expect(try shell("sha256sum < f", in: place).output == shell("sha256sum", resource.bytes))
    // Not a byte is fetched twice that was on the disk.
    #expect(
      server.requests.map { $0.header("Range") ?? "" }
        == [""] + ends.map { "bytes=\($0)-" })
  }

  private func shell(_ line: String, _ input: [UInt8]) throws -> String {
    try run(program: "/bin/bash", ["-c", line], standardInput: input).output
  }

  private func shell(_ line: String, in place: TemporaryDirectory) throws -> Invocation {
    try FormStreamCommandLineTests.shell(line, in: place)
  }

  // MARK: Partial files that others have changed

  /// Makes a partial file of 50,000 bytes of a resource: by a connection that breaks, or by kill -9.
  private func leavePartialFile(
    of resource: ContinuableResource, in place: TemporaryDirectory, isKilled: Bool
  ) throws -> ScriptedServer {
    let (pid, path) = (Guarded<Int32>(0), place.path("f.part"))
    let server = try ScriptedServer { request in
      guard request.number == 0 else { return resource.response(to: request) }
      let part = resource.response(to: request, upTo: 50_000)
      guard isKilled else { return part + [.close] }
      return part + [
        .call {
          waitForSize(path, 50_000)
          kill(pid.withLock { $0 }, SIGKILL)
        }, .stall,
      ]
    }
    let program = try start("-q", "--retry", "0", "-o", "f", server.url, in: place)
    pid.withLock { $0 = program.pid }
    let end = try program.wait()
    #expect(isKilled ? end.signal == SIGKILL : end.exit == 75, "\(end.stderr)")
    #expect(try shell("stat -c %s f.part", in: place).output == "50000\n")
    return server
  }

  /// A file of this user's under the name of the partial file was continued or emptied if it had the same inode.
  @Test(arguments: changes.indices, [[], ["-C", "-"]])
  func `a partial file that was changed or replaced is left alone`(
    _ index: Int, _ flags: [String]
  ) throws {
    let change = Self.changes[index]
    let resource = ContinuableResource(bytes: noise(100_000))
    let place = try TemporaryDirectory()
    let server = try leavePartialFile(of: resource, in: place, isKilled: change.isKilled)
    let before = try shell("{ \(change.command); } 2>&1; rm -f t*; sha256sum < f.part", in: place)
    let result = try run(
      "formstream", ["get", "--json"] + flags + ["-o", "f", server.url], in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(server.requests.last?.header("Range") == nil)
    #expect(try shell("sha256sum < f", in: place).output.prefix(64) == digest(resource.bytes))
    let after = try shell("sha256sum < f.part; ls", in: place).output
    #expect(after == "\(before.output.suffix(68))f\nf.part\nf.part.json\n")
  }

  private static let changes: [(isKilled: Bool, command: String)] = [
    (false, "echo mine > f.part"), (false, "echo mine >> f.part"),
    // With the size and the time of before.
    (false, "touch -r f.part t; printf X | dd of=f.part conv=notrunc seek=9; touch -r t f.part"),
    (false, "cp f.part t; rm f.part; cp t f.part"), (true, "cp f.part t; rm f.part; cp t f.part"),
    // File systems give a new file the inode of the one that was removed last.
    (false, inodeAgain), (true, inodeAgain),
    // What was certainly on the disk is missing.
    (true, #"sed -i 's/"synchronized" : 0/"synchronized" : 50001/' f.part.json"#),
  ]

  private static let inodeAgain = """
    i=$(stat -c %i f.part); rm f.part
    for n in $(seq 300); do head -c 50000 /dev/zero > t$n; [ $(stat -c %i t$n) = $i ] && break; done
    mv t$n f.part
    """

  @Test func `an empty file that no download has made is left alone`() throws {
    let server = try ScriptedServer { _ in .good(body: "new") }
    let place = try TemporaryDirectory()
    try place.write("f.part", "")
    let result = try formstream("get", "-o", "f", server.url, in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(try shell("cat f; ls", in: place).output == "newf\nf.part\n")
  }

  /// The names of the partial file and of its record are cut at 255 bytes, and were those of the file itself.
  @Test(arguments: [255, 250, 247, 245], [".part", ".part.json", ".2.part"])
  func `a long name may end like that of a partial file`(_ length: Int, _ end: String) throws {
    let resource = ContinuableResource(bytes: noise(100_000))
    let name = String(repeating: "n", count: length - end.count) + end
    let place = try TemporaryDirectory()
    try place.write(name, "old")
    let server = try ScriptedServer { request in
      request.number == 0
        ? resource.response(to: request, upTo: 50_000) + [.close] : resource.response(to: request)
    }
    let cut = try formstream("get", "--retry", "0", "-o", name, server.url, in: place)
    #expect(cut.exit == 75, "\(cut.stderr)")
    #expect(try shell("cat \(name)", in: place).output == "old")
    let result = try formstream("get", "-C", "-", "-o", name, server.url, in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(server.requests.last?.header("Range") == "bytes=50000-")
    let files = try shell("ls; sha256sum < \(name)", in: place).output
    #expect(try files == "\(name)\n\(digest(resource.bytes))  -\n")
  }

  // MARK: What is replaced

  @Test(arguments: ["-o f", "-O", "--compressed -o f"])
  func `a file that is replaced keeps its mode`(_ flags: String) throws {
    let server = try ScriptedServer { _ in .good(body: "new") }
    let place = try TemporaryDirectory()
    let result = try shell(
      "umask 022; echo old > f; chmod 600 f; $F get \(flags) \(server.url)/f; stat -c %a f; cat f; "
        + "rm f; $F get \(flags) \(server.url)/f; stat -c %a f", in: place)
    #expect(result.output == "600\nnew644\n", "\(result.output)")
  }

  @Test func `a name that is not certainly on the disk is said to be there`() throws {
    let server = try ScriptedServer { _ in .good(body: "new") }
    let place = try TemporaryDirectory()
    try place.write("f", "old")
    // The second is that of the directory, after the file has its name.
    let result = try run(
      program: "/usr/bin/strace",
      [
        "-f", "-qq", "-o", "/dev/null", "-e", "signal=none", "-e", "trace=fsync", "-e",
        "inject=fsync:error=EIO:when=2", builtBinary("formstream"), "get", "-o", "f", server.url,
      ], in: place, environment: underStrace)
    #expect(result.exit == 74, "\(result.stderr)")
    #expect(
      result.stderr.contains("is complete, and is \"\(place.path)/f\" now"), "\(result.stderr)")
    #expect(try shell("cat f; ls", in: place).output == "newf\n")
  }

  // MARK: Limits and ends

  /// What was there was taken off the limit, also if the file was begun again.
  @Test(arguments: [(90_000, 0), (89_999, 1)])
  func `a limit is that of the complete file`(_ limit: Int, _ exit: Int32) throws {
    let (old, new) = (
      ContinuableResource(bytes: noise(100_000)),
      ContinuableResource(bytes: noise(90_000), tag: "2")
    )
    for later in [new, ContinuableResource(bytes: Array(old.bytes.prefix(90_000)))] {
      let first = ContinuableResource(bytes: later.tag == "1" ? later.bytes : old.bytes)
      let server = try ScriptedServer { request in
        request.number == 0
          ? first.response(to: request, upTo: 50_000) + [.close] : later.response(to: request)
      }
      let place = try TemporaryDirectory()
      #expect(try formstream("get", "--retry", "0", "-o", "f", server.url, in: place).exit == 75)
      let result = try formstream(
        "get", "-C", "-", "--max-filesize", "\(limit)", "-o", "f", server.url, in: place)
      #expect(result.exit == exit, "\(result.stderr)")
      #expect(exit == 0 || result.stderr.contains("more than the 89999 bytes"), "\(result.stderr)")
      let isThere = try shell("test -e f", in: place).exit == 0
      #expect(isThere == (exit == 0))
    }
  }

  @Test(arguments: [true, false])
  func `it is said if a file may lack its end`(_ isEndKnown: Bool) throws {
    let server = try ScriptedServer { _ in
      [.respond(200, body: "abc", framing: isEndKnown ? .contentLength : .close), .finish]
    }
    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    for flags in [["-o", "f"], ["--compressed", "-o", "f"], ["-q", "-o", "f"], []] {
      for check in [[], ["--sha256", digest], ["--json"]] {
        let arguments = ["get"] + flags + check + [server.url]
        let result = try run("formstream", arguments)
        #expect(result.exit == 0, "\(result.stderr)")
        let isNoted = !isEndKnown && flags.first != "-q" && flags != [] && check.first != "--sha256"
        #expect(result.stderr.contains("it may be incomplete") == isNoted, "\(arguments)")
        if check == ["--json"] {
          #expect(result.output.contains(#""end_known":\#(isEndKnown)"#), "\(result.output)")
        }
      }
    }
  }

  @Test func `without -C a download begins again`() throws {
    let resource = ContinuableResource(bytes: noise(100_000))
    let server = try ScriptedServer { request in
      resource.response(to: request, upTo: request.number == 0 ? 50_000 : .max)
        + (request.number == 0 ? [.close] : [])
    }
    let place = try TemporaryDirectory()
    let cut = try formstream("get", "--retry", "0", "-o", "f", server.url, in: place)
    #expect(cut.exit == 75)
    #expect(cut.stderr.contains("With -C -"), "\(cut.stderr)")
    #expect(try shell("ls", in: place).output == "f.part\nf.part.json\n")
    let again = try formstream("get", "-o", "f", server.url, in: place)
    #expect(again.exit == 0)
    #expect(server.requests.last?.header("Range") == nil)
    #expect(try shell("ls", in: place).output == "f\n")
  }

  @Test func `a connection that breaks is continued, without any flag`() throws {
    let resource = ContinuableResource(bytes: noise(1_000_000))
    let server = try ScriptedServer { request in
      let ends = [300_000, 600_000]
      return request.number < 2
        ? resource.response(to: request, upTo: ends[request.number]) + [.reset]
        : resource.response(to: request)
    }
    let place = try TemporaryDirectory()
    let result = try formstream(
      "get", "--json", "--sha256", try digest(resource.bytes), "-o", "f", server.url, in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(result.output.contains(#""outcome":"ok","attempts":3"#), "\(result.output)")
    #expect(
      result.output.contains(
        #""resumed_from":0,"stored_as":"f","stored_as_b64":null,"stored_sha256":""#))
  }

  private func digest(_ bytes: [UInt8]) throws -> String {
    String(try shell("sha256sum", bytes).prefix(64))
  }

  @Test func `what has changed on the server is not joined`() throws {
    let (old, new) = (
      ContinuableResource(bytes: noise(100_000)),
      ContinuableResource(bytes: noise(90_000), tag: "2")
    )
    let server = try ScriptedServer { request in
      request.number == 0
        ? old.response(to: request, upTo: 50_000) + [.close] : new.response(to: request)
    }
    let place = try TemporaryDirectory()
    #expect(try formstream("get", "--retry", "0", "-o", "f", server.url, in: place).exit == 75)
    let result = try formstream("get", "-C", "-", "-o", "f", server.url, in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(try shell("sha256sum < f", in: place).output.prefix(64) == digest(new.bytes))
  }

  @Test func `a file with another digest is not kept`() throws {
    let server = try ScriptedServer { _ in .good(headers: [("ETag", "\"1\"")], body: "other") }
    let place = try TemporaryDirectory()
    try place.write("f", "old")
    let result = try formstream(
      "get", "--json", "--sha256", String(repeating: "0", count: 64), "-o", "f", server.url,
      in: place)
    #expect(result.exit == 1, "\(result.stderr)")
    #expect(result.output.contains(#""outcome":"failed""#), "\(result.output)")
    #expect(result.output.contains(#""code":"digest-mismatch""#), "\(result.output)")
    #expect(try shell("cat f; ls -A", in: place).output == "oldf\n")
  }

  @Test(.enabled(if: SmallDisk.isAllowed, "a file system can't be mounted here"))
  func `if the disk is full, what has arrived is kept and continued`() throws {
    let resource = ContinuableResource(bytes: noise(3 << 20))
    let server = try ScriptedServer { request in resource.response(to: request) }
    try SmallDisk.mounted(size: "2m", files: 20) { disk in
      let file = "\(disk)/f"
      let full = try formstream("get", "--json", "-o", file, server.url)
      #expect(full.exit == 74, "\(full.stderr)")
      #expect(full.output.contains(#""outcome":"failed""#), "\(full.output)")
      #expect(full.stderr.contains("No space left on device"), "\(full.stderr)")
      #expect(full.stderr.contains("-C -"), "\(full.stderr)")
      let names = try FormStreamCommandLineTests.shell("ls '\(disk)'")
      #expect(names.output == "f.part\nf.part.json\n")
      let more = try run(program: "/bin/mount", ["-o", "remount,size=8m", "\(disk)"])
      #expect(more.exit == 0, "\(more.stderr)")
      let rest = try formstream("get", "--json", "-C", "-", "-o", file, server.url)
      #expect(rest.exit == 0, "\(rest.stderr)")
      #expect(server.requests.last?.header("Range") != nil)
      let digest = try FormStreamCommandLineTests.shell("sha256sum < '\(file)'; ls '\(disk)'")
      #expect(try digest.output == "\(self.digest(resource.bytes))  -\nf\n")
    }
  }

  @Test func `two downloads to one name at once disturb neither`() throws {
    let bodies = [noise(700_000), Array(noise(500_000).reversed())]
    let bothBegan = [try Gate(), try Gate()]
    let server = try ScriptedServer { request in
      let turn = request.target == "/0" ? 0 : 1
      let resource = ContinuableResource(bytes: bodies[turn], tag: "\(turn)")
      // Each is in the middle when the other begins.
      return resource.response(to: request, upTo: 300_000) + [
        .open(bothBegan[turn]), .waitFor(bothBegan[1 - turn]),
        .send(Array(bodies[turn][300_000...])),
      ]
    }
    let place = try TemporaryDirectory()
    let programs = try (0..<2).map { try start("-o", "f", "\(server.url)/\($0)", in: place) }
    for program in programs {
      let end = try program.wait()
      #expect(end.exit == 0, "\(end.stderr)")
    }
    let stored = try Data(contentsOf: URL(filePath: place.path("f")))
    #expect(bodies.contains(Array(stored)))
    #expect(try shell("ls -A", in: place).output == "f\n")
  }

  @Test func `-O replaces a file, and -J never does`() throws {
    let server = try ScriptedServer { request in
      .good(
        headers: request.target == "/named"
          ? [("Content-Disposition", "attachment; filename=\"name.txt\"")] : [], body: "new")
    }
    let place = try TemporaryDirectory()
    try place.write("name.txt", "old")
    let numbered = try formstream(
      "get", "--json", "-J", "\(server.url)/named", "\(server.url)/named", in: place)
    #expect(numbered.exit == 0, "\(numbered.stderr)")
    #expect(numbered.output.contains(#""stored_as":"name-2.txt""#), "\(numbered.output)")
    #expect(
      try shell("cat name.txt; ls", in: place).output == "oldname-2.txt\nname-3.txt\nname.txt\n")
    let replaced = try formstream("get", "-O", "\(server.url)/dir/name.txt?q=1", in: place)
    #expect(replaced.exit == 0, "\(replaced.stderr)")
    #expect(try shell("cat name.txt", in: place).output == "new")
  }

  @Test func `a FIFO and a device are written directly`() throws {
    let server = try ScriptedServer { _ in .good(body: "through a pipe") }
    let place = try TemporaryDirectory()
    let result = try shell(
      "mkfifo p; cat p > seen & $F get -o p \(server.url); echo $?; wait; cat seen; "
        + "$F get -o /dev/null \(server.url); echo $?; ls -A", in: place)
    #expect(result.output == "0\nthrough a pipe0\np\nseen\n", "\(result.output)")
  }

  @Test func `a link leads to the file that is replaced`() throws {
    let server = try ScriptedServer { _ in .good(body: "new") }
    let place = try TemporaryDirectory()
    let result = try shell(
      "mkdir d; echo old > d/f; ln -s d/f link; $F get -o link \(server.url); echo $?; cat d/f; ls -F; ls d",
      in: place)
    #expect(result.output == "0\nnewd/\nlink@\nf\n", "\(result.output)")
  }

  // MARK: Names from servers

  /// Values of Content-Disposition. None may lead out of the directory, hide a file, or replace one.
  private static let hostileNames: [String] =
    [
      "../x", "../../../../etc/passwd", "a/../../b", "..", ".", "../", "./", "....//x", "/",
      "/etc/x",
      "//server/share/x", "\\\\..\\\\..\\\\x", "C:\\\\Windows\\\\x.ini", "C:x", "file:///etc/x",
      "~/x", "~root", ".bashrc", ".ssh/authorized_keys", "-rf", "--help", "-", "+x", "@list",
      "kept", "KEPT", "kept.", "kept ", " kept", "./kept", "d", "d/kept", "link", "link/kept",
      "dangling", "fifo", "CON", "nul.txt", "COM1", "LPT¹", "a:b", "a*b", "a?b", "a|b", "a<b>c",
      "a\\\"b", "", " ", "...", "f.part", "f.part.json", ".formstream-1", "$(touch pwned)",
      "`touch pwned`", "; touch pwned", "a%2Fb", "%2e%2e%2fx", "a\u{202E}gpj.exe", "a\u{2028}b",
      "\u{FEFF}x", "e\u{301}", "é", String(repeating: "n", count: 300),
      String(repeating: "é", count: 200) + ".jpg", String(repeating: "../", count: 2000) + "x",
    ].map { "attachment; filename=\"\($0)\"" }
    + [
      "attachment; filename*=UTF-8''..%2F..%2Fx", "attachment; filename*=UTF-8''%2Fetc%2Fx",
      "attachment; filename*=UTF-8''a%00b", "attachment; filename*=UTF-8''%2ebashrc",
      "attachment; filename*=UTF-8''%ff%fe", "attachment; filename*=bogus''x",
      "attachment; filename=../x", "attachment; filename=\"a\"; filename*=UTF-8''..%2Fkept",
      "attachment; filename=\"unclosed", "attachment; filename", "filename=x", ";;;", "",
    ]

  @Test func `hostile names lead nowhere, and replace nothing`() throws {
    let names = Self.hostileNames
    #expect(names.count >= 60)
    let server = try ScriptedServer { request in
      let number = Int(request.target.dropFirst(2)) ?? 0
      return .good(headers: [("Content-Disposition", names[number])], body: "\(number)")
    }
    let outer = try TemporaryDirectory()
    let setUp = """
      mkdir in out; cd in; echo old > kept; mkdir d; echo old > d/kept; ln -s ../out link
      ln -s ../out/nothing dangling; mkfifo fifo; echo old > .bashrc; find . | sort > ../before
      """
    #expect(try FormStreamCommandLineTests.shell(setUp, in: outer).exit == 0)
    let urls = names.indices.map { "\(server.url)/n\($0)" }
    let result = try run(
      "formstream", ["get", "--json", "-J", "--output-dir", "in"] + urls, in: outer)
    #expect(result.exit == 0, "\(result.stderr)")
    let seen = try FormStreamCommandLineTests.shell(
      """
      ls -A; ls -A out; cd in; cat kept d/kept .bashrc; ls d; test -p fifo && echo fifo
      find . | sort | comm -23 ../before - ; ls -A | grep '^[.-]'; ls -A | wc -l
      """, in: outer)
    // Beside the files, only what was there: in each of the lists, and in number.
    #expect(
      seen.output
        == "before\nin\nout\nold\nold\nold\nkept\nfifo\n.bashrc\n\(names.count + 6)\n",
      "\(seen.output)")
    // Each has its own bytes, under the name that the record has.
    let records = result.output.split(separator: "\n")
    #expect(records.count == names.count)
    for (number, record) in records.enumerated() {
      let stored = try #require(
        try JSONSerialization.jsonObject(with: Data(record.utf8)) as? [String: Any])
      let path = try #require(stored["stored_as"] as? String, "\(names[number])")
      let contents = try String(contentsOf: URL(filePath: outer.path(path)), encoding: .utf8)
      #expect(contents == "\(number)", "\(names[number])")
    }
  }

  /// Regression: the download failed, though the file under the name of the partial file is another program's.
  @Test func `a program that runs under the name of a partial file is passed over`() throws {
    let resource = ContinuableResource(bytes: noise(1000))
    let place = try TemporaryDirectory()
    let server = try ScriptedServer { resource.response(to: $0) }
    // Nothing can open a program for writing while it runs (ETXTBSY).
    let result = try shell(
      "cp /bin/sleep f.part; chmod 700 f.part; ./f.part 60 & $F get -q -C - -o f \(server.url); echo $?; kill $!; stat -c %s f",
      in: place)
    #expect(result.output == "0\n1000\n", "\(result.output) \(result.stderr)")
  }
}
