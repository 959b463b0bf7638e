import FormStreamMultipart
import FormStreamTestSupport
import Testing

/// What `parse` prints about a body.
@Suite struct ParseTests {
  private static let body = """
    --B\r
    Content-Disposition: form-data; name="t"\r
    \r
    abc\r
    --B\r
    Content-Disposition: form-data; name="f"; filename="é.txt"\r
    Content-Type: text/plain\r
    \r
    \r
    --B\r
    content-disposition:form-data; name="bin"\r
    \r
    \u{0}\r
    --B--\r

    """

  private func parse(
    _ body: String, _ arguments: String..., in directory: TemporaryDirectory? = nil
  ) throws -> Invocation {
    try run(
      "formstream", ["parse", "--boundary", "B", "-"] + arguments, standardInput: Array(body.utf8),
      in: directory)
  }

  @Test func `the record of a form has the right keys and values`() throws {
    let run = try parse(Self.body, "--json")
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    let nul = "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    #expect(
      run.output == #"{"schema":"formstream.parsed/1","body_bytes":210,"complete":true,"parts":["#
        + #"{"index":0,"name":"t","filename":null,"content_type":null,"headers":[["#
        + #""Content-Disposition","form-data; name=\"t\""]],"size":3,"sha256":"\#(abc)","#
        + #""value":"abc","value_b64":null,"stored_as":null},"#
        + #"{"index":1,"name":"f","filename":"é.txt","content_type":"text/plain","headers":[["#
        + #""Content-Disposition","form-data; name=\"f\"; filename=\"é.txt\""],["#
        + #""Content-Type","text/plain"]],"size":0,"sha256":"\#(nothing)","#
        + #""value":null,"value_b64":null,"stored_as":null},"#
        + #"{"index":2,"name":"bin","filename":null,"content_type":null,"headers":[["#
        + #""content-disposition","form-data; name=\"bin\""]],"size":1,"sha256":"\#(nul)","#
        + #""value":"\u0000","value_b64":null,"stored_as":null}],"error":null}"# + "\n",
      "\(run.output)")
    #expect(run.exit == 0)
    #expect(run.stderr.isEmpty)
  }

  @Test func `a value that is not UTF-8 is in base 64`() throws {
    let head = "--B\r\nContent-Disposition: form-data; name=a\r\n\r\n"
    let run = try run(
      "formstream", ["parse", "--boundary", "B", "--json", "-"],
      standardInput: Array(head.utf8) + [0xFF, 0xFE] + Array("\r\n--B--".utf8))
    #expect(run.output.contains(#""value":null,"value_b64":"//4=","stored_as":null"#))
  }

  @Test func `parse prints the parts of a form as a table`() throws {
    let run = try parse(
      Self.body.replacing("abc", with: "two\r\nlines, \u{1B}[31mand more than forty characters"))
    #expect(
      run.output == """
        #  name  file name  type        bytes  content
        1  t                               47  two\\u{D}\\u{A}lines, \\u{1B}[31mand more …
        2  f     é.txt      text/plain      0
        3  bin                              1  \\u{0}
        The form is complete: 3 parts, 254 bytes.

        """)
  }

  /// Regression: a long value was cut without a sign, and a name of one character took 14 KB.
  @Test func `text that the table cuts ends in an ellipsis`() throws {
    let family = "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}\u{200D}\u{1F466}"
    let marked = "a" + String(repeating: "\u{301}", count: 7_000)
    let head = "--B\r\nContent-Disposition: form-data; name=\"\(marked)\"\r\n\r\n"
    let run = try parse(head + String(repeating: family, count: 60) + "\r\n--B--")
    // A family counts as its four people, with two columns each: four families fit into 40 columns.
    #expect(
      run.output.contains("  " + String(repeating: family, count: 4) + "…\n"), "\(run.output)")
    #expect(run.output.contains("…\nThe form is complete"), "\(run.output)")
    #expect(run.output.utf8.count < 2_000)
  }

  @Test func `a form without parts is a form`() throws {
    #expect(try parse("--B--\r\n").output == "The form is complete: no parts, 7 bytes.\n")
  }

  @Test(arguments: [
    // Cut in the second part's bytes; the first part is complete.
    (
      "--B\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--B\r\n"
        + "Content-Disposition: form-data; name=b\r\n\r\nyy",
      #""body_bytes":99,"complete":false,"parts":[{"index":0,"name":"a","#,
      #""error":{"code":"body-incomplete","message":"The body ends at byte 99 without its last "#
        + #"delimiter: it was cut off, or it has another boundary. This is in part 2, \"b\", of which 2 "#
        + #"bytes arrived."}}"#
    ),
    (
      "--B\r\nno colon\r\n\r\nx\r\n--B--\r\n", #""body_bytes":5,"complete":false,"parts":[],"#,
      #""error":{"code":"malformed-body","message":"The body is malformed at byte 5: a header has no "#
        + #"colon. Send a body as RFC 7578 defines it."}}"#
    ),
    (
      "", #""body_bytes":0,"complete":false,"parts":[],"#,
      #""error":{"code":"body-incomplete","message":"The body ends at byte 0 without its last "#
        + #"delimiter: it was cut off, or it has another boundary."}}"#
    ),
  ])
  func `a malformed body ends with 1, and the error says where`(
    _ body: String, _ begins: String, _ ends: String
  ) throws {
    let run = try parse(body, "--json")
    #expect(run.exit == 1)
    #expect(run.output.hasPrefix(#"{"schema":"formstream.parsed/1","# + begins), "\(run.output)")
    #expect(run.output.hasSuffix(ends + "\n"), "\(run.output)")
    #expect(run.stderr.hasPrefix("formstream: The body "))
  }

  /// Regression: the form was complete, and had no parts.
  @Test(arguments: ["--Bx\r\n", "-B\r\n", "", "--B--\r\n--B\r\n"])
  func `a form with a part outside of its delimiters is malformed`(_ first: String) throws {
    let run = try parse(
      "\(first)Content-Disposition: form-data; name=a; filename=f\r\n\r\nDATA\r\n--B--\r\n")
    #expect(run.exit == 1)
    #expect(run.stderr.contains("would be lost"), "\(run.stderr)")
  }

  /// The size of the pieces does not change the offset of the error.
  @Test func `the record of a malformed body does not depend on the pieces it arrives in`() throws {
    let place = try TemporaryDirectory()
    try place.write("body", String(repeating: "x", count: 70_000))
    let run = try shell(
      """
      one() { $F parse --boundary B --limit preamble=66000 --json "$@" 2> /dev/null; }
      one body > whole; cat body | one - > piped; dd if=body bs=7 2> /dev/null | one - > pieces
      cmp whole piped && cmp whole pieces && cat whole
      """, in: place)
    #expect(run.output.hasPrefix(#"{"schema":"formstream.parsed/1","body_bytes":66000,"#))
  }

  @Test(arguments: [
    ("boundary=0", 64, "must have 1 to 0 bytes"), ("header-block=45", 1, "more than 45 bytes"),
    ("headers=0", 1, "more than 0 headers"),
    ("all-headers=90", 1, "headers of all parts have more than 90 bytes, seen at byte 110"),
    ("parts=1", 1, "more than 1 part,"),
    ("preamble=2", 1, "before its first delimiter"), ("epilogue=1", 1, "after its last delimiter"),
    ("part-bytes=2", 1, "A part has more than 2 bytes"),
    ("body=50", 1, "The body has more than 50"),
  ])
  func `each limit is enforced`(_ limit: String, _ exit: Int32, _ says: String) throws {
    let body = "pre\r\n" + Self.body + "post"
    #expect(try parse(body).exit == 0)
    let run = try parse(body, "--limit", limit)
    #expect(run.exit == exit)
    #expect(run.stderr.contains(says), "\(run.stderr)")
  }

  @Test(arguments: [("1K", 0), ("1k", 0), ("1023", 1), ("0M", 1), ("1T", 0)])
  func `a limit can be given in powers of 1024`(_ number: String, _ exit: Int32) throws {
    let part = "Content-Disposition: form-data; name=a\r\n\r\n"
    let body = "--B\r\n\(part)\(String(repeating: "x", count: 1024))\r\n--B--\r\n"
    #expect(try parse(body, "--limit", "part-bytes=\(number)").exit == exit)
  }

  @Test func `ten thousand parts are accepted, and more only on request`() throws {
    let part = "--B\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n"
    let taken = try parse(String(repeating: part, count: 10_000) + "--B--")
    #expect(taken.output.hasSuffix("The form is complete: 10000 parts, 490005 bytes.\n"))
    let more = String(repeating: part, count: 10_001) + "--B--"
    let refused = try parse(more)
    #expect(refused.exit == 1)
    #expect(refused.stderr.contains("more than 10000 parts, seen at byte 490005"))
    #expect(try parse(more, "--limit", "parts=10001").exit == 0)
  }

  @Test(arguments: [
    "multipart/form-data; boundary=B", "Content-Type: multipart/form-data; boundary=\"B\"",
    "content-type:multipart/form-data;boundary=B", "multipart/form-data; charset=utf-8; boundary=B",
  ])
  func `the boundary can come from the request's Content-Type`(_ type: String) throws {
    let run = try formstream(
      "parse", "--content-type", type, "-", standardInput: Array(Self.body.utf8))
    #expect(run.exit == 0, "\(run.stderr)")
  }

  /// Regression: with a blank before the type, a form whose parts have no names was accepted.
  @Test(arguments: [
    ("multipart/form-data; boundary=B", 1), (" Multipart/Form-Data ; boundary=B", 1),
    ("Content-Type:\r\n multipart/form-data; boundary=B", 1),
    ("multipart/form-data-like; boundary=B", 0),
  ])
  func `a form is recognized however its type is written`(_ type: String, _ exit: Int32) throws {
    let body = Array("--B\r\nContent-Type: text/plain\r\n\r\nabc\r\n--B--".utf8)
    let run = try formstream("parse", "--content-type", type, "-", standardInput: body)
    #expect(run.exit == exit, "\(run.stderr)")
  }

  @Test func `parts need names only in multipart/form-data`() throws {
    let body = Array("--B\r\nContent-Type: text/plain\r\n\r\nabc\r\n--B--".utf8)
    let form = try formstream(
      "parse", "--content-type", "multipart/form-data; boundary=B", "-", standardInput: body)
    #expect(form.exit == 1)
    #expect(form.stderr.contains("no Content-Disposition"))
    let mixed = try formstream(
      "parse", "--content-type", "multipart/mixed; boundary=B", "-", "--json", standardInput: body)
    #expect(mixed.output.contains(#""name":null,"filename":null,"content_type":"text/plain""#))
  }

  @Test(arguments: [
    ("", #"a%22b"#, #"c\d.txt"#), ("browser", "a\\\"b", #"c\\d.txt"#),
  ])
  func `names are decoded by the profile that is given`(
    _ escaping: String, _ name: String, _ filename: String
  ) throws {
    let body =
      "--B\r\nContent-Disposition: form-data; name=\"a%22b\"; filename=\"c\\d.txt\"\r\n\r\n\r\n--B--"
    let run = try parse(
      body, "--json", escaping.isEmpty ? "--bare-lf" : "--escaping=\(escaping)")
    #expect(run.output.contains("\"name\":\"\(name)\""), "\(run.output)")
  }

  @Test func `a body may come from a FIFO, and from a file with any name`() throws {
    let place = try TemporaryDirectory()
    try place.write("body", Self.body)
    let run = try shell(
      """
      mkfifo p; (cat body > p) & $F parse --boundary B p | tail -1; wait
      n=$(printf 'x\\377'); cp body $n; $F parse --boundary B $n | tail -1
      cp body ./-; $F parse --boundary B ./- | tail -1; $F parse --boundary B -- ./- | tail -1
      cp body help; $F parse --boundary B help | tail -1
      """, in: place)
    #expect(
      run.output
        == String(repeating: "The form is complete: 3 parts, 210 bytes.\n", count: 5),
      "\(run.output)")
  }

  @Test func `a disk error in the middle ends with 74, and the parts before it are printed`() throws {
    let place = try TemporaryDirectory()
    let part = "--B\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n"
    try place.write("body", part + part + String(repeating: "x", count: 200_000))
    let run = try run(
      program: "/usr/bin/strace",
      [
        "-o", "trace", "-P", place.path("body"), "-e", "inject=read:error=EIO:when=2",
        builtBinary("formstream"), "parse", "--boundary", "B", "--json", place.path("body"),
      ], in: place, environment: underStrace)
    #expect(run.exit == 74)
    #expect(
      run.output.contains(#""body_bytes":65536,"complete":false,"parts":[{"index":0,"name":"a","#))
    #expect(run.output.contains(#""error":{"code":"read-failed","message":"The file \""#))
    #expect(run.stderr.contains("could not be read further than byte 65536: Input/output error"))
  }

  @Test func `a full output device is an error`() throws {
    let run = try shell(
      "$F encode --boundary B -F a=b | $F parse --boundary B --json - > /dev/full; echo $?")
    #expect(run.output == "74\n")
    #expect(run.stderr.contains("No space left on device"))
  }

  @Test func `parse reads what encode makes, with each profile`() throws {
    let place = try TemporaryDirectory()
    try place.write("f", noise(300_000))
    for profile in ["browser", "rfc2231", "backslash", "percent"] {
      let run = try shell(
        """
        $F encode --boundary B --escaping \(profile) --field 'é"x=1' --file 'f=f' --filename 'é"\\;.bin' -o body
        $F parse --boundary B --escaping \(profile) --json body > record
        python3 - <<'END'
        import json, hashlib
        one, two = json.load(open("record"))["parts"]
        assert one["name"] == 'é"x' and one["value"] == "1", one
        assert two["filename"] == 'é"\\\\;.bin', two
        assert two["sha256"] == hashlib.sha256(open("f", "rb").read()).hexdigest()
        END
        """, in: place)
      #expect(run.exit == 0, "\(profile): \(run.stderr)")
    }
  }
}
