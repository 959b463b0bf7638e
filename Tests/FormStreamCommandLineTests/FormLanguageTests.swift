import Testing
import FormStreamTestSupport

/// `-F` compared with the installed curl: the same arguments make the same body, except for the boundary.
@Suite struct FormLanguageTests {
  /// In the directory: `a.txt`, `a,b.txt`, `a;b.txt`, `q"q.txt`, `heads`.
  static let supported: [[String]] = [
    ["name=value"], ["name="], ["a=b=c"], ["a=é"], ["a= b "], ["a=\tb"],
    ["a=\"b\""], ["a=\"b;c\""], ["a=\"b,c\""], ["a=b,c"], [#"a="b\"c\\d""#], [#"a="b\c""#],
    [#"a=b\"c"#], ["a=\"b"], ["a=\"b\" "], ["a=b\"c\"d"], ["a=\" b \""], ["a=b\nc"],
    ["na\"me=v"], ["na\\me=v"], ["a b=c"],
    ["a=b;type=text/x"], ["a=b; type=text/x"], ["a=b;TYPE=text/x"], ["a=b;type= text/x "],
    ["a=b;type=text/x; charset=utf-8"], ["a=b;type=text/x;charset=\"a b\""],
    ["a=b;type=text/x;charset=utf-8;filename=c"], ["a=b;filename=c;type=text/x"],
    ["a=b;filename=c;type=a/b"], ["a=b;filename= c ;type=a/b"], ["a=b;filename=\"c;d\";type=a/b"],
    [#"a=b;filename="c\"d";type=a/b"#],
    ["a=b;filename=c\rd\ne;type=a/b"], ["a=b;filename=é;type=a/b"], ["a=b;filename=;type=a/b"],
    ["a=b;headers=\"X-A: 1\""], ["a=b;headers=X-A: 1;headers=X-B: 2"], ["a=b;headers=@heads"],
    ["a=b;headers=<heads;type=text/x"],
    ["f=@a.txt;type=text/plain"], ["f=@\"a.txt\";type=text/plain"], ["f=@ a.txt ;type=text/plain"],
    ["f=@\"a,b.txt\";type=text/plain"], ["f=@\"a;b.txt\";type=text/plain"],
    [#"f=@"q\"q.txt";type=text/plain"#], ["f=@a.txt;filename=b.txt;type=text/plain"],
    ["f=@a.txt;type=text/plain;filename=\"b,c\""], ["f=@./a.txt;type=text/plain;headers=X: y"],
    ["f=<a.txt"], ["f=< a.txt"], ["f=<a,b.txt"], ["f=<a.txt;type=text/x"],
    ["f=@-;type=text/plain"], ["f=<-"], ["f=@-;filename=x;type=text/plain"],
    ["f=@a.txt;type=text/x,\"a,b.txt\";type=text/y;filename=q;headers=X: y"],
    ["f=@a.txt;type=text/x , a.txt ;type=text/y"], ["f=@-;type=text/x,a.txt;type=text/y", "t=1"],
    ["a=1", "m=(", "=x", "=@a.txt;type=text/x", "=)", "z=2"], ["m=(", "=)"],
    ["m=(;headers=X: y", "=x", "=)"],
    ["m=(", "a=b", "f=@a.txt;type=a/b", "n=(", "c=d", "=)", "=)"],
    ["m=(;type=multipart/form-data", "a=b", "f=@a.txt;type=a/b", "=)"],
    ["m=(;type=multipart/alternative", "=x;type=text/plain", "=<a.txt;type=text/html", "=)"],
    [
      "m=(", "=(", "=x", "=)", "=@a.txt;type=a/b,a.txt;type=c/d", "=)",
      "f=@a.txt;type=a/b,a.txt;type=a/b",
    ],
    ["a=1", "b=2", "a=3"], ["f=@a.txt;type=text/x", "f=@a.txt;type=text/y", "t=last"],
  ]

  @Test(arguments: supported)
  func `-F makes the body that curl makes`(_ forms: [String]) throws {
    let place = try Self.place()
    let arguments = forms.flatMap { ["-F", $0] }
    let theirs = try Self.curl(arguments, in: place)
    let ours = try run(
      "formstream", ["encode", "--boundary", theirs.boundary] + arguments,
      standardInput: Array("from the pipe".utf8), in: place)
    #expect(ours.exit == 0, "\(ours.stderr)")
    #expect(
      Self.numberingBoundaries(ours.output)
        == Self.numberingBoundaries(String(decoding: theirs.body, as: UTF8.self)))
  }

  /// A body whose inner boundaries are replaced by their numbers: curl's are random.
  static func numberingBoundaries(_ body: String) -> String {
    var text = body
    let boundaries = body.split(separator: "; boundary=").dropFirst()
      .map { $0.prefix { $0 != "\r\n" } }
    // A shorter one may stand in a longer one.
    for (index, boundary) in boundaries.enumerated().sorted(by: {
      $0.element.count > $1.element.count
    }) {
      text = text.replacing(boundary, with: "inner-\(index)")
    }
    return text
  }

  @Test func `a part in a part keeps its name`() throws {
    let run = try formstream("encode", "--boundary", "B", "-F", "m=(", "-F", "a=b", "-F", "=)")
    #expect(
      run.output
        == "--B\r\nContent-Disposition: form-data; name=\"m\"\r\n"
        + "Content-Type: multipart/mixed; boundary=1.B\r\n\r\n"
        + "--1.B\r\nContent-Disposition: attachment; name=\"a\"\r\n\r\nb\r\n--1.B--\r\n\r\n--B--\r\n"
    )
  }

  @Test func `a list of files comes with a note, and so does a file whose mark is missing`() throws {
    let place = try Self.place()
    let list = try formstream("encode", "-F", "f=@a.txt,a.txt", in: place)
    #expect(list.stderr.contains("The 2 files of part \"f\" are sent as curl sends a list"))
    let missing = try formstream("encode", "-F", "f=a.txt", in: place)
    #expect(missing.stderr.contains("write -F f=@FILE to send the file"), "\(missing.stderr)")
    #expect(missing.exit == 0)
    let text = try formstream(
      "encode", "-F", "f=b.txt", "--field", "g=a.txt", "-F", "h=.", in: place)
    #expect(!text.stderr.contains("formstream: "), "\(text.stderr)")
  }

  @Test func `flags for the part before them are for the part in a part`() throws {
    let run = try formstream(
      "encode", "--boundary", "B", "-F", "m=(", "-F", "=b", "--type", "a/b", "-F", "=)", "--type",
      "multipart/parallel")
    #expect(run.output.contains("--1.B\r\nContent-Type: a/b\r\n"), "\(run.output)")
    #expect(run.output.contains("Content-Type: multipart/parallel; boundary=1.B\r\n"))
  }

  /// Cases in which formstream differs from curl, and why.
  @Test(arguments: [
    // Browsers send an empty name; curl leaves the name out, which RFC 7578 §4.2 forbids.
    ("=value", #"name="""#),
    // Browsers make a lone line break in a name CRLF; curl sends %0A.
    ("na\nme=v", #"name="na%0D%0Ame""#),
    // A part with a file name is a file; one without a type would be read as text/plain.
    // curl ignores a file name after <.
    ("f=</dev/null;filename=x;type=a/b", "filename=\"x\"\r\nContent-Type: a/b"),
    ("a=b;filename=c", "filename=\"c\"\r\nContent-Type: application/octet-stream"),
  ])
  func `formstream keeps names that curl drops, and follows browsers`(
    _ form: String, _ says: String
  ) throws {
    let run = try formstream("encode", "-F", form)
    #expect(run.output.contains("Content-Disposition: form-data; "))
    #expect(run.output.contains(says + "\r\n"), "\(run.output)")
  }

  /// Arguments that curl would split, skip with a warning, or send differently.
  @Test(arguments: [
    ("a=b;c", "what follows a semicolon is not type="), ("name=John; Doe", "--field"),
    ("a=b;;type=a/b", "semicolon"), ("f=@a,b.txt", "double quotes"),
    ("f=@a.txt,", "no path after @"),
    ("f=@a.txt,a.txt;frob", "semicolon"), ("a=b;encoder=base64", "encoder= is not supported"),
    ("a=(b", "text follows =("), ("=)", "no =( before it"), ("=)x", "text follows =)"),
    ("a=(", "add -F '=)'"), ("a=(;filename=x", "has no file name"),
    ("a=\"b\"c", "follows the closing quote"),
    ("f=@a.txt;frob=1", "-F (argument 3): what follows a semicolon"),
    ("a=b;type=text", "not a media type"),
    ("a=b; type=\"text/plain; charset=utf-8\"", "has quotes around it, which would be sent"),
    ("a=b;type=a/b;type=c/d", "type= is given twice"),
    ("a=b;filename=c;filename=d", "filename= is given twice"), ("a=b;headers=X", "no colon"),
    ("a=b;headers=@", "no path"),
  ])
  func `anything that is not supported is an error that names it`(_ form: String, _ says: String)
    throws
  {
    let run = try formstream("encode", "-F", form, in: try Self.place())
    #expect(run.exit == 64)
    #expect(run.stdout.isEmpty)
    #expect(run.stderr.contains(says), "\(run.stderr)")
  }

  private static func place() throws -> TemporaryDirectory {
    let place = try TemporaryDirectory()
    for name in ["a.txt", "a,b.txt", "a;b.txt", "q\"q.txt"] {
      try place.write(name, "contents of \(name)\n")
    }
    try place.write("heads", "# a comment\nX-One: 1\n\nX-Two: 2\r\n  goes on\n")
    return place
  }

  private static func curl(
    _ arguments: [String], in place: TemporaryDirectory
  ) throws -> (boundary: String, body: [UInt8]) {
    let server = try ScriptedServer(requests: [.closing()])
    let run = try run(
      program: "/usr/bin/curl",
      ["-sS", "-q", "--noproxy", "*", "http://127.0.0.1:\(server.port)/"] + arguments,
      standardInput: Array("from the pipe".utf8), in: place)
    try #require(run.exit == 0, "\(run.stderr)")
    let request = try #require(server.requests.first)
    let boundary = try #require(
      request.header("Content-Type")?.split(separator: "boundary=").last)
    return (String(boundary), request.body)
  }
}
