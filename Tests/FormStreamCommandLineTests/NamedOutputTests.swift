import FormStreamTestSupport
import Glibc
import Testing

/// The files that a command writes: none is one that it sends, or another's.
@Suite struct NamedOutputTests {
  private static func place() throws -> TemporaryDirectory {
    let place = try TemporaryDirectory()
    for name in ["f", "g"] { try place.write(name, "\(name): text\n") }
    _ = try shell("mkdir d; echo of d/f > d/f; ln -s f link; ln g hard; ln -s d dir", in: place)
    return place
  }

  /// Regression: the response to the first request became the file of the second, whose wrong bytes were a success. Others
  /// were gone after the command.
  @Test(arguments: [
    "put -T f -T g -O U/g U/z", "put -T f -T g -O U/d/", "put -T g -O --output-dir . U/",
    "put -T d/f -O --output-dir dir U/f", "put -T f -o f U/", "put -T f -o ./f U/",
    "put -T f -o link U/", "put -T link -o f U/", "put -T g -o hard U/", "put -T f -D f U/",
    "put -T f -c f U/", "put -T '[f-g]' -D g U/", "put f g -c d/../g U/", "post @f -o f U/",
    "post -F a=@g -O U/g", "post -F 'a=<f' -o f U/", "post -F a=@f,g -D g U/",
    "post -F 'a=(' -F b=@f -F '=)' -o f U/", "post -F 'a=b;headers=@f' -o f U/",
    "post --file a=f -c f U/", "post -d @f -o f U/", "post -d a --data-binary @f -D f U/",
    "post --data-urlencode n@f -c f U/", "post --json @f -o f U/", "post --dry-run -T f -o f U/",
    "post --to-curl -T f -o f U/", "put -T f -T new -o new -o x U/d/", "get -G -d @f -o f U/",
    "get --url-query @f -O U/f", "put -T - -o f U/ < f", "send -c f U/ f",
    "send -c f -F file=@f U/ g",
    "send --put -c g U/ f g",
  ])
  func `an output that would replace what is sent is an error before anything is sent`(
    _ line: String
  ) throws {
    let server = try ScriptedServer { _ in [.unexpected] }
    let place = try Self.place()
    let typed = line.replacing("U/", with: server.url + "/")
    let result = try shell("$F \(typed)", in: place)
    #expect(result.exit == 64, "\(result.stderr)")
    #expect(result.stderr.contains("would replace the file \""), "\(result.stderr)")
    #expect(server.connectionCount == 0)
    #expect(
      try shell("LC_ALL=C ls; cat f g d/f", in: place).output
        == "d\ndir\nf\ng\nhard\nlink\nf: text\ng: text\nof d/f\n")
  }

  @Test(arguments: [
    "put -T f -o x U/", "put -T f -o d/f U/", "put -T d/f -O U/x",
    "put -T f -o /dev/null -D /dev/null -c /dev/null U/", "put -T - -o /dev/stdout U/ < f",
    "put -T /dev/null -o /dev/null U/", "post -d a -b jar -c jar U/", "post -d a -o x -D y -c z U/",
    "put -T f -T g -o /dev/null U/", "get -o /dev/null -o /dev/null U/ U/",
    "get -D /dev/null -o /dev/null U/", "post -F 'a=f' -o f U/", "post --data-raw @f -o f U/",
  ])
  func `other outputs are written`(_ line: String) throws {
    let server = try ScriptedServer { _ in .good() }
    let typed = line.replacing("U/", with: server.url + "/")
    let result = try shell("$F \(typed)", in: try Self.place())
    #expect(result.exit == 0, "\(result.stderr)")
  }

  /// Regression: the file held what was written last.
  @Test(arguments: [
    ("get --json -D x -o x U/", "-o and -D"), ("get -D x -o x U/", "-o and -D"),
    ("get -D x -O U/x", "-O and -D"), ("get -c x -o ./x U/", "-o and -c"),
    ("get -D x -c x U/", "-D and -c"), ("post -d a -o x -D x -c y U/", "-o and -D"),
    ("post -d a -c x -o x U/", "-o and -c"),
    ("put -T '{f,g}' -O --output-dir d -D d/g U/", "-O and"),
    ("put -T f -T g -o x -o ./x U/", "Two responses"),
    ("put -T f -T d/f -O --output-dir n U/ U/e/", "Two responses"),
  ])
  func `two outputs in one file are an error before anything is sent`(
    _ line: String, _ says: String
  ) throws {
    let server = try ScriptedServer { _ in [.unexpected] }
    let typed = line.replacing("U/", with: server.url + "/")
    let result = try shell("$F \(typed); echo $?; ls -d x d/g", in: try Self.place())
    #expect(result.output == "64\n", "\(result.stderr)")
    #expect(result.stderr.contains(says), "\(result.stderr)")
    #expect(server.connectionCount == 0)
  }

  /// Regression: the head or the cookies replaced what had arrived of the file, or its record.
  @Test(arguments: [
    "get -o x -D x.part U/", "get -o x -c ./x.part U/", "get -o x -D x.part.json U/",
    "get -O -D x.part U/x", "get -O --output-dir d -D d/x.part U/x", "get -J -D x.part U/x?a=b",
    "get -o x -c x.2.part U/", "get -o x -c x.2.part.json U/", "get -o x -o x.part U/ U/",
    "get --no-clobber -o x -D x.part U/", "get -o out -D place/g.part U/",
    "get -C - -o x -D x.part U/",
  ])
  func `an output with the name of a partial file is an error before anything is sent`(
    _ line: String
  ) throws {
    let server = try ScriptedServer { _ in [.unexpected] }
    let place = try Self.place()
    _ = try shell("ln -s g out; ln -s . place", in: place)
    let typed = line.replacing("U/", with: server.url + "/")
    let result = try shell("$F \(typed); echo $?; ls -d *x*", in: place)
    #expect(result.output == "64\n", "\(result.stderr)")
    #expect(result.stderr.contains("until that is complete"), "\(result.stderr)")
    #expect(server.connectionCount == 0)
  }

  /// There is no partial file, or another name is its.
  @Test(arguments: [
    "get -r 0-3 -o x -D x.part U/", "get -X POST -o x -D x.part U/", "get -D x.part U/",
    "get -o - -D x.part U/", "get -o x -D d/x.part U/", "get -o x -D x.part2 U/",
    "get -o x.part U/", "post -d a -o x -D x.part U/",
  ])
  func `names like that of a partial file are free where there is none`(_ line: String) throws {
    let server = try ScriptedServer { request in
      request.header("Range") == nil
        ? .good() : .good(206, headers: [("Content-Range", "bytes 0-3/8")], body: "part")
    }
    let typed = line.replacing("U/", with: server.url + "/")
    let result = try shell("$F \(typed)", in: try Self.place())
    #expect(result.exit == 0, "\(result.stderr)")
  }

  /// Regression: all but the last `-o` were ignored.
  @Test(arguments: [
    ("put -T a -T b -T c -o x -o y -o z U/", "x /a y /b z /c"),
    ("put -T a U/1 -T b U/2 -o x -o y", "x /1 y /2"),
    ("put -T a -T b -T c -O -o y U/", "/c a /a y /b"),
    ("put -T '{a,b}' -o x -O U/", "b /b x /a"), ("put -T a -T b -O U/", "a /a b /b"),
  ])
  func `each request has the output that was typed for it`(
    _ line: String, _ files: String
  ) throws {
    let server = try ScriptedServer { request in .good(body: "\(request.target)\n") }
    let place = try TemporaryDirectory()
    for name in ["a", "b", "c"] { try place.write(name, "") }
    let typed = line.replacing("U/", with: server.url + "/")
    let result = try shell(
      "mkdir out; { $F \(typed) --output-dir out; cd out; for f in *; do echo $f; cat $f; done; } | xargs",
      in: place)
    #expect(result.output == "\(files)\n", "\(result.stderr)")
  }

  /// As in curl.
  @Test(arguments: [
    ("post -d a -o x -o y", "given 2 times, and there is 1 request", "x"),
    ("post -d a -o x -O", "given 2 times, and there is 1 request", "x"),
    ("put -T f -T g -o x -o y -o z", "given 3 times, and there are 2 requests", "x y"),
  ])
  func `more outputs than requests are left over`(
    _ line: String, _ says: String, _ files: String
  ) throws {
    let server = try ScriptedServer { _ in .good() }
    let result = try shell(
      "$F \(line) \(server.url)/; echo $?; ls x y z 2> /dev/null | xargs", in: try Self.place())
    #expect(result.output == "0\n\(files)\n")
    #expect(result.stderr.contains(says), "\(result.stderr)")
  }

  /// Regression: the request was sent first.
  @Test(arguments: [
    "post -d a -c no/c U/", "get -c no/c U/", "send -c no/c U/ f", "put -T f -c d U/",
    "post -d a -c dead U/", "post -d a -D no/h U/",
  ])
  func `a file that can't be written is an error before anything is sent`(_ line: String) throws {
    let server = try ScriptedServer { _ in [.unexpected] }
    let place = try Self.place()
    let typed = line.replacing("U/", with: server.url + "/")
    let result = try shell("ln -s nosuch dead; $F \(typed); echo $?; ls -A d", in: place)
    #expect(result.output == "74\nf\n", "\(result.stderr)")
    #expect(!result.stderr.contains("with -o"), "\(result.stderr)")
    #expect(server.connectionCount == 0)
  }

  /// `new/../in` once replaced `in`, as it led nowhere before --create-dirs made the directory.
  @Test(arguments: [
    "get --create-dirs -o x/a -o x/../x/a U/1 U/2", "post --create-dirs -o x/../f -F a=@f U/",
    "put --create-dirs -D x/../f -T f U/",
  ])
  func `a path through a directory that is still to be made names the file that it leads to`(
    _ line: String
  ) throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try Self.place()
    let typed = line.replacing("U/", with: server.url + "/")
    let result = try shell("cp f before; $F \(typed); echo $?; cmp f before", in: place)
    #expect(result.output == "64\n", "\(result.stderr)")
    #expect(server.connectionCount == 0)
  }

  /// Two names that turn out to be those of one file only when the first response is stored.
  @Test(arguments: [
    "get -o new -o lateLink U/1 U/2", "get --create-dirs -o x/a -o lateDir/a U/1 U/2",
    "put -T f -T g --create-dirs -o x/a -o lateDir/a U/1 U/2",
  ])
  func `a response never replaces an earlier one of the same command`(_ line: String) throws {
    let server = try ScriptedServer { request in .good(body: request.target) }
    let place = try Self.place()
    _ = try shell("ln -s new lateLink; ln -s x lateDir", in: place)
    let typed = line.replacing("U/", with: server.url + "/")
    let result = try shell("$F \(typed)", in: place)
    #expect(result.exit == 64, "\(result.stderr)")
    #expect(server.requests.count == 1)
    let stored = try shell("cat new x/a 2>/dev/null", in: place).output
    #expect(stored == server.requests.first?.target)
  }

  /// Regression: only `-` was known as standard output, and what was appended damaged the input.
  @Test(arguments: [
    "encode -F a=@f -o /dev/stdout", "encode -F a=@f -o /proc/self/fd/1",
    "post -d @f -o /dev/stdout U/", "post -d @f -D /dev/stdout -o /dev/null U/",
    "post -d @f -c /dev/stdout -o /dev/null U/", "put -T f -o /proc/self/fd/1 U/",
    "get --header-file f -o /dev/stdout U/", "send U/ f --failed /dev/stdout",
    "plan f -o /dev/stdout", "put -T f -o f U/",
  ])
  func `standard output by another name is no input either`(_ line: String) throws {
    let server = try ScriptedServer { _ in [.unexpected] }
    let place = try Self.place()
    let result = try shell(
      "$F \(line.replacing("U/", with: server.url + "/")) >> f; echo $?; cat f", in: place)
    #expect(result.output == "64\nf: text\n", "\(result.stderr)")
    #expect(result.stderr.contains("is also the standard output"), "\(result.stderr)")
    #expect(server.connectionCount == 0)
  }

  /// Regression: the response was gone after the command. Only the server, or the disk, named its file.
  @Test(arguments: [
    ("get -J -D named U/1", 74, "named"), ("get -J -c named U/1", 74, "named"),
    ("get -J -O -o named U/1 U/2", 64, "named"),
    ("get --no-clobber -o f -D f.1 U/1", 74, "f.1"),
    ("get --no-clobber -o f -c f.1 U/1", 74, "f.1"),
    ("get --no-clobber -i -o f -D f.1 U/1", 74, "f.1"),
    ("get --no-clobber -o f -o f.1 U/1 U/2", 0, "f.1"),
  ])
  func `a response whose name the server or the disk chose is not replaced by another output`(
    _ line: String, _ code: Int32, _ file: String
  ) throws {
    let server = try ScriptedServer { request in
      .good(
        headers: [
          ("Content-Disposition", "attachment; filename=named"), ("Set-Cookie", "a=b"),
        ], body: "the body of \(request.target)")
    }
    let place = try Self.place()
    let result = try shell("$F \(line.replacing("U/", with: server.url + "/"))", in: place)
    #expect(result.exit == code, "\(result.stderr)")
    let text = try shell("cat \(file)", in: place).output
    #expect(text.hasSuffix("the body of /1"), "\(text)")
    if code == 74 {
      #expect(
        result.stderr.contains("The file \"\(file)\" has got a response, which -"),
        "\(result.stderr)")
    }
  }

  /// Regression: the inode of a file that another program had removed was that of the next one.
  @Test func `a file with the inode of an earlier one is not that file`() throws {
    let place = try Self.place()
    let server = try ScriptedServer { request in
      [
        .call {
          guard request.target == "/2" else { return }
          // The file of the first response goes to the second's name, as a new file with its inode would.
          _ = rename(place.path("a"), place.path("b"))
        }
      ] + .good(body: request.target)
    }
    let urls = (1...3).map { "\(server.url)/\($0)" }.joined(separator: " ")
    let result = try shell("$F get -o a -o c -o b \(urls)", in: place)
    #expect(result.exit == 0, "\(result.stderr)")
    #expect(try shell("cat b c", in: place).output == "/3/2")
  }

  @Test func `several responses may go to one device, or to standard output by its name`() throws {
    let server = try ScriptedServer { request in .good(body: request.target) }
    let place = try Self.place()
    let result = try shell(
      "$F get -o /dev/stdout -o /dev/stdout -o /dev/null -o /dev/null U/1 U/2 U/3 U/4 > all; cat all"
        .replacing("U/", with: server.url + "/"), in: place)
    #expect(result.output == "/1/2", "\(result.stderr)")
  }

  /// On a file system without hard links, a file has a temporary name from the beginning. A signal that is not waited for
  /// removed only the last one.
  @Test func `a signal that ends the command at once removes all temporary files`() throws {
    let server = try ScriptedServer { _ in
      [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na"), .stall]
    }
    let place = try Self.place()
    let result = try shell(
      """
      export ASAN_OPTIONS=detect_leaks=0
      strace -D -f -o /dev/null -e trace=linkat -e inject=linkat:error=EPERM \
        "$F" get -q -i -o x -D y \(server.url) &
      until [ "$(ls -A | grep -c '^.formstream-')" = 2 ]; do sleep 0.01; done
      kill -HUP $!; wait $!; echo $?; ls -A | grep '^.formstream-'
      """, in: place)
    #expect(result.output == "129\n", "\(result.stderr)")
  }
}
