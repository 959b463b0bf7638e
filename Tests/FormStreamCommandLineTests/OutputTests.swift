import Testing
import FormStreamTestSupport

/// Where the output goes, and what is left if the command fails.
@Suite struct OutputTests {
  @Test func `a file appears when it is complete, and nothing else is left`() throws {
    let run = try shell(
      "umask 027; $F encode --boundary B -F a=b -o body; ls -A; stat -c %a body; wc -c < body")
    #expect(run.output == "body\n640\n59\n")
  }

  @Test func `an existing file is replaced and keeps its mode`() throws {
    let run = try shell(
      """
      echo old > body; chmod 604 body; ln -s body link
      $F encode --boundary B -F a=b -o link; stat -c %a body; readlink link; head -1 body; ls -A | wc -l
      """)
    #expect(run.output == "604\nbody\n--B\r\n2\n")
  }

  @Test func `an existing file stays if something fails`() throws {
    let run = try shell(
      "echo old > body; $F encode -F a=b -F f=@/proc/cpuinfo -o body; echo $?; cat body; ls -A")
    #expect(run.output == "74\nold\nbody\n")
  }

  @Test(arguments: [("TERM", 143), ("INT", 130), ("HUP", 129), ("QUIT", 131)])
  func `a signal ends the command and leaves no half-written file`(
    _ signal: String, _ code: Int
  ) throws {
    // `set -m`: a shell without job control has its background jobs ignore SIGINT.
    let run = try shell(
      """
      set -m
      mkfifo p; $F encode -F f=@p -o body & command=$!
      exec 3> p; echo x >&3
      until \(hasBegunFile); do sleep 0.01; done
      kill -\(signal) $command; wait $command; echo $?; ls -A
      """)
    #expect(run.output == "\(code)\np\n")
  }

  @Test func `an ignored hangup stays ignored`() throws {
    let run = try shell(
      """
      mkfifo p; nohup $F encode --boundary B -F f=@p -o body 2> /dev/null & command=$!
      exec 3> p; echo x >&3
      until \(hasBegunFile); do sleep 0.01; done
      kill -HUP $command; exec 3>&-; wait $command; echo $?; tail -1 body
      """)
    #expect(run.output == "0\n--B--\r\n")
  }

  @Test func `a FIFO is written directly`() throws {
    let run = try shell("mkfifo p; cat p & $F encode --boundary B -o p; wait; test -p p && echo ok")
    #expect(run.output == "--B--\r\nok\n")
  }

  /// Regression: `-o /dev/stdout` replaced the file that standard output was appended to.
  @Test(arguments: ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
  func `standard output by another name is not replaced`(_ name: String) throws {
    let run = try shell(
      "echo first > f; { $F encode --boundary B -o \(name); echo last; } >> f; cat f; ls")
    #expect(run.output == "first\n--B--\r\nlast\nf\n")
  }

  /// Regression: the output went to a file whose name was repaired to UTF-8.
  @Test func `an output name that is not UTF-8 is used byte for byte`() throws {
    let run = try shell(
      "n=$(printf 'x\\377'); echo old > $n; $F encode --boundary B -o $n; cat $n; ls | wc -l")
    #expect(run.output == "--B--\r\n1\n")
  }

  /// Regression: with standard error closed, the output file got its descriptor number, and messages were written
  /// into it.
  @Test func `no message gets into the output if standard error is closed`() throws {
    let run = try shell(
      "mkfifo p; $F encode --boundary B --headers -F f=@p -o h 2>&-; echo $?; cat h")
    #expect(run.output == "0\nContent-Type: multipart/form-data; boundary=B\n")
  }

  @Test func `the output is private until it is complete, and never set-user`() throws {
    let run = try shell(
      """
      echo old > body; chmod 6755 body; mkfifo p; $F encode -F f=@p -o body & exec 3> p; echo x >&3
      until \(hasBegunFile); do sleep 0.01; done
      for f in /proc/$!/fd/*; do case $(readlink $f) in "$PWD"/[#.]*) stat -L -c %a $f; esac; done
      exec 3>&-; wait; stat -c %a body
      """)
    #expect(run.output == "600\n755\n")
  }

  @Test func `a link to a missing file is refused`() throws {
    let run = try shell("ln -s nowhere link; $F encode -o link; echo $?; ls")
    #expect(run.output == "74\nlink\n")
    #expect(run.stderr.contains("is a link to a file that does not exist"))
  }

  @Test(.limitsFileSize)
  func `a file over the size limit is an error, and is removed`() throws {
    let run = try shell("ulimit -f 10; $F encode --file f=/bin/bash -o body; echo $?; ls -A")
    #expect(run.output == "74\n")
    #expect(run.stderr.contains("File too large"))
  }

  @Test func `-o names no input file`() throws {
    let run = try shell("echo x > f; $F encode --boundary B -F f=@f -o f; echo $?; cat f")
    #expect(run.output == "64\nx\n")
  }

  @Test func `headers and outline are written to the file of -o`() throws {
    let run = try shell(
      "$F encode --boundary B --headers -o h; cat h; $F encode --dry-run -o s; wc -l < s")
    #expect(
      run.output == "Content-Type: multipart/form-data; boundary=B\nContent-Length: 7\n4\n")
  }
}

/// What a terminal shows. `script` runs the command on a terminal.
@Suite struct TerminalTests {
  @Test func `a body is printed to a terminal only on request`() throws {
    let refused = try shell("script -qec \"$F encode -F a=b\" /dev/null")
    #expect(refused.exit == 64)
    #expect(refused.output.contains("standard output is a terminal"))
    let asked = try shell("script -qec \"$F encode --boundary B -o -\" /dev/null")
    #expect(asked.exit == 0)
    #expect(asked.output.contains("--B--"))
  }

  @Test(arguments: [
    ("\u{1B}]0;x\u{7}", #"\u{1B}]0;x\u{7}"#), ("a\u{202E}b", #"a\u{202E}b"#),
    ("a\u{9B}31m", #"a\u{9B}31m"#), ("a\u{7F}", #"a\u{7F}"#), ("a\nb", #"a\u{A}b"#),
    ("a\u{2066}b", #"a\u{2066}b"#), ("a\u{E0041}b", #"a\u{E0041}b"#), ("a\u{2028}", #"a\u{2028}"#),
    ("é👩‍🚀", "é👩‍🚀"),
  ])
  func `control and bidi characters are shown as escapes`(_ name: String, _ shown: String) throws {
    let message = try formstream("encode", "--file", "f=\(name)")
    #expect(message.exit == 66)
    #expect(message.stderr.contains("The file \"\(shown)\" of part"), "\(message.stderr)")
    let skeleton = try formstream(
      "encode", "--dry-run", "--field", "a=b", "--filename", name.filter { $0 != "\n" })
    #expect(skeleton.output.unicodeScalars.allSatisfy { $0 == "\n" || visible($0) })
    #expect(name.contains("\n") || skeleton.output.contains("filename=\"\(shown)\""))
  }

  private func visible(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value)
      && !(0x202A...0x202E).contains(scalar.value) && !(0x2066...0x2069).contains(scalar.value)
      && !(0xE0000...0xE007F).contains(scalar.value) && scalar.value != 0x2028
  }
}
