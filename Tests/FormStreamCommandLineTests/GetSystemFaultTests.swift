import FormStreamTestSupport
import Testing

/// `formstream get` if a single system call fails: strace injects the failures.
@Suite struct GetSystemFaultTests {
  /// A system call, its error, and which of its calls fail. The first files that are opened, closed and looked at are those
  /// that the program itself needs.
  private static let faults: [(call: String, error: String, numbers: [Int])] = [
    ("write", "ENOSPC", [1, 2, 3, 4, 5, 6]), ("write", "EIO", [2, 4]),
    ("fsync", "EIO", [1, 2]), ("renameat", "EIO", [1, 2]), ("renameat", "ENOSPC", [1, 2]),
    ("renameat2", "EIO", [1]), ("linkat", "ENOSPC", [1, 2]), ("unlinkat", "EIO", [1, 2]),
    ("openat", "EMFILE", [150, 155, 160, 162, 164, 166]),
    ("openat", "EACCES", [156, 158, 161, 163, 165, 167]),
    ("close", "EIO", [70, 75, 80, 84, 86]), ("newfstatat", "EIO", [76, 79, 82, 85]),
    ("ftruncate", "EIO", [1]), ("flock", "ENOLCK", [1]), ("fchmod", "EPERM", [1]),
    ("recvfrom", "ECONNRESET", [1, 2]), ("clone3", "EAGAIN", [1, 2, 3]),
  ]

  @Test(arguments: faults.indices, ["-o f", "-o f --compressed", "-J"])
  func `a failed system call never makes a file that is not complete`(
    _ index: Int, _ flags: String
  ) throws {
    let fault = Self.faults[index]
    let body = noise(700_000)
    let server = try ScriptedServer { _ in
      [
        .respond(
          200,
          headers: [("ETag", "\"1\""), ("Content-Disposition", "attachment; filename=\"f\"")],
          bytes: body)
      ]
    }
    var failures = 0
    for number in fault.numbers {
      let place = try TemporaryDirectory()
      try place.write("f", "old")
      try place.write("body", body)
      let result = try run(
        program: "/usr/bin/strace",
        [
          "-f", "-qq", "-o", "/dev/null", "-e", "signal=none", "-e", "trace=\(fault.call)", "-e",
          "inject=\(fault.call):error=\(fault.error):when=\(number)", builtBinary("formstream"),
          "get", "--json", "--retry", "0",
        ] + flags.split(separator: " ").map(String.init) + [server.url], in: place,
        environment: underStrace)
      let what = "\(fault.call) \(number): \(result.stderr)"
      #expect(result.signal == nil, "\(what)")
      // Each file is the old one or complete, and `ok` is said of complete ones only.
      let files = try shell(
        """
        for f in f f-2; do
          if [ ! -e $f ]; then echo none; elif cmp -s $f body; then echo complete
          elif [ "$(cat $f)" = old ]; then echo old; else echo torn; fi
        done
        """, in: place
      ).output.split(separator: "\n")
      #expect(files.count == 2 && !files.contains("torn"), "\(what)")
      let isOK = result.output.contains(#""outcome":"ok""#)
      #expect(isOK == (result.exit == 0), "\(what) \(result.output)")
      if isOK { #expect(files[flags == "-J" ? 1 : 0] == "complete", "\(what)") }
      if flags == "-J" { #expect(files[0] == "old", "\(what)") }
      if !isOK { failures += 1 }
    }
    // strace did make the calls fail that can't be done without.
    if ["write", "fsync", "renameat"].contains(fault.call), flags == "-o f" {
      #expect(failures > 0)
    }
  }
}
