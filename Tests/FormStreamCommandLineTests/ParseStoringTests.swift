import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// What `parse --into` leaves on the disk.
@Suite struct ParseStoringTests {
  private static func part(_ head: String, _ body: String = "x") -> String {
    "--B\r\nContent-Disposition: form-data; \(head)\r\n\r\n\(body)\r\n"
  }

  private func store(
    _ body: String, _ arguments: String..., in place: TemporaryDirectory
  ) throws -> Invocation {
    try run(
      "formstream", ["parse", "--boundary", "B", "--into", "in", "-"] + arguments,
      standardInput: Array(body.utf8), in: place)
  }

  private func list(_ place: TemporaryDirectory) throws -> [String] {
    try shell("find . -type f -printf '%P %s\\n' | LC_ALL=C sort", in: place)
      .output.split(separator: "\n").map(String.init)
  }

  @Test func `files are stored byte for byte, and fields are not`() throws {
    let place = try TemporaryDirectory()
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    try place.write("f", bytes)
    let run = try shell(
      """
      $F encode --boundary B --field t=abc --file a=f --file b=f --filename e.bin -o body
      $F parse --boundary B --into in body; cmp f in/f && cmp f in/e.bin && ls -A in
      """, in: place)
    #expect(run.output.contains("stored as e.bin\n"), "\(run.output)")
    #expect(run.output.hasSuffix(" bytes.\ne.bin\nf\n"), "\(run.output)")
  }

  @Test func `a second run replaces nothing`() throws {
    let place = try TemporaryDirectory()
    let body = Self.part("name=a; filename=f.txt", "1") + Self.part("name=a; filename=f.txt", "22")
    for _ in 0..<2 { #expect(try store(body + "--B--", in: place).exit == 0) }
    #expect(try list(place) == ["in/f-2.txt 2", "in/f-3.txt 1", "in/f-4.txt 2", "in/f.txt 1"])
  }

  /// Each name tries to leave the directory, or to have a special meaning in it.
  @Test func `no file name leads out of the directory`() throws {
    let place = try TemporaryDirectory()
    let names = [
      "../out", "../../out", "/tmp/formstream-out", "..", ".", "in/../../out", "..\\out", ".bashrc",
      "-rf", "a/b/c/out", "%2e%2e%2fout", "....//out", "~/out", "~", "\u{202E}txt.exe", "a\tb",
      "out/", "/", "\\\\host\\out", "C:\\out", "CON", "con.txt", "$(touch out)", "`touch out`",
      String(repeating: "../", count: 300) + "out", String(repeating: "n", count: 5_000),
    ]
    let body = names.map { Self.part("name=a; filename=\"\($0)\"") }.joined()
    let run = try store(body + Self.part("name=\"../field\"; filename=\"\"") + "--B--", in: place)
    #expect(run.exit == 0, "\(run.stderr)")
    let stored = try shell(
      "find . -type f | wc -l; find in -mindepth 1 -type f -size 1c | wc -l", in: place)
    #expect(stored.output == "27\n27\n")
    let odd = try shell("ls -A in | grep -cE '^[-.~]|[[:cntrl:]]|^(CON|con)'; ls -A", in: place)
    #expect(odd.output == "0\nin\n")
  }

  @Test func `percent codes that decode to a path stay in the directory too`() throws {
    let place = try TemporaryDirectory()
    let body = Self.part("name=a; filename*=UTF-8''..%2F..%2Fout%00%0D%0A.txt") + "--B--"
    #expect(try store(body, in: place).exit == 0)
    #expect(try list(place) == ["in/out___.txt 1"])
  }

  @Test func `a browser's empty file field stores nothing, an empty file is stored`() throws {
    let place = try TemporaryDirectory()
    let body =
      Self.part("name=a; filename=\"\"", "") + Self.part("name=b; filename=empty", "") + "--B--"
    #expect(try store(body, in: place).exit == 0)
    #expect(try list(place) == ["in/empty 0"])
  }

  @Test func `fields too long for the record are stored under their names`() throws {
    let place = try TemporaryDirectory()
    let body =
      Self.part("name=short", String(repeating: "s", count: 65_536))
      + Self.part("name=long", String(repeating: "l", count: 65_537)) + "--B--"
    let run = try store(body, "--json", in: place)
    #expect(run.output.contains(#""size":65537,"sha256":""#))
    #expect(run.output.contains(#""value":null,"value_b64":null,"stored_as":"long""#))
    #expect(run.output.contains(#""value":"sss"#))
    #expect(try list(place) == ["in/long 65537"])
    let unstored = try formstream(
      "parse", "--boundary", "B", "--json", "-", standardInput: Array(body.utf8))
    #expect(unstored.output.contains(#""value":null,"value_b64":null,"stored_as":null"#))
  }

  @Test func `fields are kept up to 16 MiB in all`() throws {
    let place = try TemporaryDirectory()
    let field = Self.part("name=a", String(repeating: "s", count: 65_536))
    let run = try store(String(repeating: field, count: 257) + "--B--", "--json", in: place)
    #expect(run.exit == 0)
    #expect(try list(place) == ["in/a 65536"])
    #expect(run.output.contains(#""stored_as":"a"}],"error":null}"#))
  }

  @Test func `if a body is cut off, only its complete files are left`() throws {
    let place = try TemporaryDirectory()
    let body = Self.part("name=a; filename=whole", "12") + Self.part("name=b; filename=half", "345")
    let run = try store(String(body.utf8.dropLast(3)) ?? "", in: place)
    #expect(run.exit == 1)
    #expect(try list(place) == ["in/whole 2"])
  }

  @Test(arguments: ["TERM", "HUP"])
  func `a signal leaves no half-written file`(_ signal: String) throws {
    let run = try shell(
      """
      mkfifo p; $F parse --boundary B --into in p & exec 3> p
      printf -- '--B\\r\\nContent-Disposition: form-data; name=a; filename=f\\r\\n\\r\\nsome bytes' >&3
      until ls -l /proc/$!/fd 2> /dev/null | grep -q '/in/#'; do :; done
      kill -\(signal) $!; wait $!; ls -A in
      """)
    #expect(run.output.isEmpty, "\(run.output)")
  }

  @Test(.limitsFileSize)
  func `if there is no room, the error names the part and nothing incomplete is left`() throws {
    let place = try TemporaryDirectory()
    try place.write(
      "body",
      Self.part("name=a; filename=f")
        + Self.part("name=b; filename=g", String(repeating: "x", count: 100_000)) + "--B--")
    let run = try shell(
      "ulimit -f 10; $F parse --boundary B --into in --json body; echo $?; ls -A in", in: place)
    #expect(
      run.output.contains(
        #""error":{"code":"no-room","message":"A file in the directory \"in\" "#))
    #expect(run.output.hasSuffix("\n74\nf\n"), "\(run.output)")
  }

  /// Network file systems may report only at the end that there was no room. Such a file was once reported as stored.
  ///
  /// The first file without a name only shows whether there are such files. The second one is the part's: a copy of its
  /// descriptor is closed before the file gets its name.
  @Test func `a file that fails to close is not stored`() throws {
    let place = try TemporaryDirectory()
    try place.write("body", Self.part("name=a; filename=f") + "--B--")
    let run = try shell(
      """
      export ASAN_OPTIONS=detect_leaks=0
      parse() { strace -o trace "$@" "$F" parse --boundary B --into in body; }
      parse -e trace=openat,close,fcntl > /dev/null; rm -r in
      n=$(awk '/^close/ {n++} /O_TMPFILE/ {made++} made == 2 && /F_DUPFD/ {copied = 1}
        copied && /^close/ {print n; exit}' trace)
      parse -e trace=close -e "inject=close:error=ENOSPC:when=$n"; echo $?; ls -A in
      """, in: place)
    #expect(run.output.hasSuffix("74\n"), "\(run.output)")
    #expect(run.stderr.contains("could not be written: No space left on device"), "\(run.stderr)")
  }

  @Test func `if no more files can be open, the error says so`() throws {
    let place = try TemporaryDirectory()
    try place.write("body", Self.part("name=a; filename=f") + "--B--")
    let run = try shell(
      """
      export ASAN_OPTIONS=detect_leaks=0
      parse() { strace -o trace "$@" "$F" parse --boundary B --into in --json body; }
      parse -e trace=openat > out; rm -r in
      n=$(grep ^openat trace | grep -n O_TMPFILE | tail -1 | cut -d: -f1)
      parse -e trace=openat -e "inject=openat:error=EMFILE:when=$n"; echo $?; ls -A in
      """, in: place)
    #expect(run.output.hasSuffix("74\n"), "\(run.output) \(run.stderr)")
    #expect(run.output.contains(#""code":"too-many-open""#), "\(run.output)")
    #expect(run.stderr.contains("Allow more open files (\"ulimit -n\")"), "\(run.stderr)")
  }

  /// File systems without hard links report that in one of three ways. With FUSE, as many mounts of remote storage
  /// use, it is ENOSYS. Others, such as NFS, can't rename without replacing; some can do neither.
  @Test(arguments: [
    ["linkat:error=EPERM"], ["linkat:error=EOPNOTSUPP"], ["linkat:error=ENOSYS"],
    ["linkat:error=EPERM", "renameat2:error=EINVAL"],
    ["linkat:error=ENOSYS", "renameat2:error=ENOSYS"],
    ["openat:error=EOPNOTSUPP:when=N", "renameat2:error=EINVAL"],
  ])
  func `files are stored even on a file system without hard links`(_ faults: [String]) throws {
    let place = try TemporaryDirectory()
    let twice = Self.part("name=a; filename=f", "1") + Self.part("name=a; filename=f", "22")
    try place.write("body", twice + "--B--")
    let run = try shell(
      """
      export ASAN_OPTIONS=detect_leaks=0
      parse() { strace -o trace "$@" "$F" parse --boundary B --into in body; }
      parse -e trace=openat > out; rm -r in
      n=$(grep ^openat trace | grep -n O_TMPFILE | head -1 | cut -d: -f1)
      parse \(faults.map { "-e inject=\($0.replacing("=N", with: "=$n"))" }.joined(separator: " "))
      """, in: place)
    #expect(run.exit == 0, "\(run.stderr)")
    #expect(try shell("cat in/f in/f-2; ls -A in", in: place).output == "122f\nf-2\n")
  }

  @Test func `files have the permissions of new files`() throws {
    let place = try TemporaryDirectory()
    try place.write("body", Self.part("name=a; filename=f") + "--B--")
    let run = try shell(
      "umask 027; $F parse --boundary B --into in body > /dev/null; stat -c %a in in/f", in: place)
    #expect(run.output == "750\n640\n")
  }
}
