import Foundation
import FormStreamTestSupport
import Testing

/// `send --put`: two files never go to one URL.
@Suite struct SendURLTests {
  /// Makes two trees with the same names in them, and lists of their files. No two files have the same contents, except
  /// the last two.
  private static let prepare = """
    mkdir -p t/A/x t/B/x t/a/x/y t/b/x/y t/deep/1/2 t/deep/3/2 t/n
    for f in A/x/f B/x/f A/x/g.txt B/h a/x/f b/x/f b/x/g a/x/y/f b/x/y/f deep/1/2/f deep/3/2/f deep/1/2/g.txt deep/3/2/g.md \\
      n/1 n/11 n/1a n/a n/12 n/2
    do echo "$f" > t/$f; done
    echo same > t/n/s1; echo same > t/n/s2
    cd t; ln -s x/f b/link; ln -s 1 deep/link
    find A B -type f > l1; printf 'A/./x/f\\nB/./x/f\\n' > l2; printf '%s\\n' A/x/f "$PWD/A/x/f" "$PWD/B/x/f" B/x/f > l3
    printf 'a/./x/f\\nx/f\\n' > l4; mkdir -p x; echo x/f > x/f; printf '../t/A/x/f\\nA/x/f\\n../t/B/./x/f\\n' > l5

    """

  private static let templates = [
    "/", "/{relative}", "/{path}", "/{name}", "/{stem}", "/{stem}.{extension}", "/{size}/{name}",
    "/{index}",
    "/{index}{name}", "/{index}/{name}", "/{sha256}", "/{sha256}.{extension}",
    "/{name}-{sha256}-{stem}", "/{type}",
    "/q?f={relative}", "/q?f={name}", "/{relative}/{size}", "/{size}{relative}",
    "/{name}/{relative}",
  ]

  /// Those that are also tried with manifests, shards and journals. With `FORMSTREAM_GRID=all`, all are.
  private static let sharedTemplates =
    triesAllCells ? templates : ["/", "/{name}", "/{sha256}.{extension}"]

  private static let sources = [
    "A", "A B", "B A/", "A/x/f B/x/f", "A A/x/f", "a/x b/x", "a b --follow-symlinks", "deep",
    "deep --follow-symlinks",
    "n", ". B", "A ../t/B", "$PWD/A B", "../t A", "--files-from l1", "--files-from l2",
    "--files-from l3",
    "--files-from l4", "--files-from l5", "B --files-from l1", "A/x/f x/f",
  ]

  /// What a cell of the grid must not do. A file of the source is one line of `plan`.
  private func judge(
    _ cell: String, _ run: Invocation, _ requests: ArraySlice<RecordedRequest>, files: Int,
    contents: Int
  ) {
    if run.exit == 64 {
      #expect(requests.isEmpty, "\(cell)")
      #expect(
        run.stderr.contains("would both be sent to")
          || run.stderr.contains("{index} counts from 0"),
        "\(cell): \(run.stderr)")
      return
    }
    var stored: [String: [UInt8]] = [:]
    for request in requests { stored[request.target] = request.body }
    if run.exit == 1 {
      // As before, a path with .. in it is no URL.
      #expect(run.stderr.contains("has no URL"), "\(cell): \(run.stderr)")
      #expect(stored.count == requests.count, "\(cell)")
      return
    }
    #expect(run.exit == 0, "\(cell): \(run.stderr)")
    // Files with the same contents may have one URL that is made of them, and only these.
    let expected = cell.contains("{sha256}") ? contents...files : files...files
    #expect(expected.contains(stored.count), "\(cell): \(stored.keys.sorted())")
    #expect(Set(stored.values).count == contents, "\(cell): \(stored.keys.sorted())")
  }

  @Test(arguments: sources)
  func `no template sends two files of a tree to one URL`(_ source: String) throws {
    let server = try ScriptedServer { _ in .good() }
    let place = try TemporaryDirectory()
    let planned = try shell(
      Self.prepare + """
        $F plan \(source) -o ../m
        $F plan --sort \(source) -o ../s
        tail -n +2 ../m | wc -l
        """, in: place)
    let files = try #require(
      Int(planned.output.split(separator: "\n").last ?? ""), "\(planned.stderr)")
    let follows = source.contains("--follow-symlinks") ? "--follow-symlinks " : ""
    var done = 0
    var contents = 0
    for (index, template) in Self.templates.enumerated() {
      let put = "cd t; $F send -q -j 8 --put '\(server.url)\(template)' "
      for (mode, lines) in [
        ("direct", ["\(put)\(source)"]),
        ("journal", [String](repeating: "\(put)--journal ../j\(index) \(source)", count: 2)),
        ("manifest", ["\(put)\(follows)--manifest ../m"]),
        (
          "shards",
          ["1/2", "2/2"].map {
            "\(put)\(follows)--manifest ../s --journal ../k\(index) --shard \($0)"
          }
        ),
      ] where mode == "direct" || Self.sharedTemplates.contains(template) {
        var last: Invocation?
        for line in lines {
          let run = try shell(line, in: place)
          // Only one of two shards may have the files without a URL.
          if let last, mode != "shards" {
            #expect(last.exit == run.exit, "\(template) \(mode): \(run.stderr)")
          }
          if last == nil || run.exit != 0 { last = run }
        }
        guard let last else { continue }
        let requests = server.requests[done...]
        done += requests.count
        if contents == 0 { contents = Set(requests.map(\.body)).count }
        judge("\(source) \(template) \(mode)", last, requests, files: files, contents: contents)
      }
    }
  }

  /// Runs a line in a new tree. Returns the run, and the bodies by their targets.
  private func put(_ line: String) throws -> (run: Invocation, stored: [String: String]) {
    let server = try ScriptedServer { _ in .good() }
    let run = try shell(
      Self.prepare + line.replacing("URL", with: server.url), in: try TemporaryDirectory())
    return (
      run,
      Dictionary(
        server.requests.map { ($0.target, String(decoding: $0.body, as: UTF8.self)) },
        uniquingKeysWith: { "\($0) and \($1)" })
    )
  }

  @Test(
    arguments: [
      (
        "$F send --put URL/ A B",
        ["/A/x/f": "A/x/f\n", "/A/x/g.txt": "A/x/g.txt\n", "/B/x/f": "B/x/f\n", "/B/h": "B/h\n"]
      ),
      (
        "$F plan A B -o m; $F send --put URL/ --manifest m",
        [
          "/A/x/f": "A/x/f\n", "/A/x/g.txt": "A/x/g.txt\n", "/B/x/f": "B/x/f\n", "/B/h": "B/h\n",
        ]
      ),
      (
        "$F send --put URL/ --journal ../j A B",
        [
          "/A/x/f": "A/x/f\n", "/A/x/g.txt": "A/x/g.txt\n", "/B/x/f": "B/x/f\n", "/B/h": "B/h\n",
        ]
      ),
      (
        "$F send --put URL/up/ ../t/A/ x/f",
        ["/up/A/x/f": "A/x/f\n", "/up/A/x/g.txt": "A/x/g.txt\n", "/up/f": "x/f\n"]
      ),
      ("$F send --put URL/ A", ["/x/f": "A/x/f\n", "/x/g.txt": "A/x/g.txt\n"]),
      ("$F send --put URL/ x/f", ["/f": "x/f\n"]),
    ] as [(String, [String: String])])
  func `with several directories, the name of each begins its paths`(
    _ line: String, _ stored: [String: String]
  ) throws {
    let (run, found) = try put(line)
    #expect(run.exit == 0, "\(run.stderr)")
    #expect(found == stored)
  }

  @Test(arguments: [
    ("$F send --put 'URL/{name}' deep", "/f", ["deep/1/2/f", "deep/3/2/f"]),
    ("$F send --put 'URL/up/' A/x/f B/x/f", "/up/f", ["A/x/f", "B/x/f"]),
    ("$F send --put 'URL/' a/x b/x", "/x/f", ["a/x/f", "b/x/f"]),
    ("$F send --put URL/ --files-from l2", "/x/f", ["A/x/f", "B/x/f"]),
    (
      "$F plan --sort deep -o m; $F send --put 'URL/{name}' --manifest m --shard 2/2", "/f",
      ["deep/1/2/f", "deep/3/2/f"]
    ),
    ("$F send --put 'URL/{name}' --journal j deep", "/f", ["deep/1/2/f", "deep/3/2/f"]),
  ])
  func `a URL that two files would have is an error that names both`(
    _ line: String, _ target: String, _ names: [String]
  ) throws {
    let (run, found) = try put(line)
    #expect(run.exit == 64, "\(run.stderr)")
    #expect(found.isEmpty)
    for name in names { #expect(run.stderr.contains("\(name)\""), "\(run.stderr)") }
    #expect(run.stderr.contains("\(target)\""), "\(run.stderr)")
  }

  @Test func `after such an error, the same command goes on when a file has another name`() throws {
    let line = "$F send -q --put 'URL/{name}' --journal j deep"
    let (run, found) = try put(
      "\(line); echo $?; mv deep/3/2/f deep/3/2/f2; rm deep/3/2/g.md; \(line); echo $?; ls j | grep -c journal"
    )
    #expect(run.output == "64\n0\n1\n", "\(run.stderr)")
    #expect(Set(found.keys) == ["/f", "/f2", "/g.txt"])
  }

  @Test(arguments: [
    ("{name}", "{stem}"), ("{relative}", "x/{name}"), ("{path}", "{relative}"), ("", "{name}"),
  ])
  func `a journal is that of one template`(_ first: String, _ second: String) throws {
    let (run, found) = try put(
      """
      $F send -q --put 'URL/\(first)' --journal j A; echo $?
      $F send -q --put 'URL/\(second)' --journal j A; echo $?
      $F send -q --put 'URL/\(first)' --journal j A; echo $?
      """)
    #expect(run.output == "0\n64\n0\n", "\(run.stderr)")
    #expect(run.stderr.contains("name another directory"), "\(run.stderr)")
    #expect(found.count == 2)
  }

  /// Regression: all files were sent to the URL before the `#`.
  @Test(arguments: ["up#{name}", "#{relative}", "up/#a/{path}", "{name}#{sha256}", "q?a=b#{index}"])
  func `a value of the file is not in the fragment of a URL, which is not sent`(
    _ template: String
  ) throws {
    let (run, found) = try put("$F send --put 'URL/\(template)' A")
    #expect(run.exit == 64, "\(run.stderr)")
    #expect(run.stderr.contains("in the path or the query"), "\(run.stderr)")
    #expect(found.isEmpty)
  }

  /// Regression: files were taken for sent that the server had stored elsewhere.
  @Test(arguments: [
    ("--put URL/{name}", "URL", "belongs to a run that sends files as they are"),
    ("URL", "--put URL/{name}", "belongs to a run that sends forms"),
    ("URL", "--put URL/{path}", "belongs to a run that sends forms"),
  ])
  func `forms and files as they are have journals of their own`(
    _ first: String, _ second: String, _ text: String
  ) throws {
    let (run, _) = try put(
      """
      $F send -q --journal j \(first) A; echo $?; $F send --journal j \(second) A; echo $?
      $F plan -o m A; $F send -q --journal k --manifest m \(first); echo $?; $F send --journal k --manifest m \(second); echo $?
      """)
    #expect(run.output == "0\n64\n0\n64\n", "\(run.stderr)")
    #expect(run.stderr.ranges(of: text).count == 2, "\(run.stderr)")
  }

  /// Regression: a new signature was taken for another template.
  @Test(arguments: [
    ("{name}?sig=a&expires=1", "{name}?sig=b&expires=2", "", ""),
    ("{name}?sig=a", "{name}", "", ""),
    ("?f={name}", "?f={name}", "--query sig=a", "--query sig=b"),
    ("{relative}", "{relative}", "--query sig=a", "--query sig=b"),
  ])
  func `a journal goes on with a new signature in the query`(
    _ first: String, _ second: String, _ firstFlags: String, _ secondFlags: String
  ) throws {
    let server = try ScriptedServer { request in
      .good(request.target.contains("g.txt") && request.target.contains("sig=a") ? 403 : 200)
    }
    let run = try shell(
      Self.prepare + """
        $F send -q --journal j --put '\(server.url)/\(first)' \(firstFlags) A; echo $?
        $F send -q --journal j --put '\(server.url)/\(second)' \(secondFlags) A; echo $?
        """, in: try TemporaryDirectory())
    #expect(run.output == "1\n0\n", "\(run.stderr)")
    #expect(server.requests.count == 3)
  }

  /// In each shard, and in the manifest of the rest, the first file has the index 0.
  @Test func `the index is not in the URLs of a manifest's files`() throws {
    let (run, found) = try put("$F plan A -o m; $F send --put 'URL/{index}' --manifest m")
    #expect(run.exit == 64, "\(run.stderr)")
    #expect(run.stderr.contains("{index} counts from 0"), "\(run.stderr)")
    #expect(found.isEmpty)
  }

  @Test func `templates that can't repeat start before the last file is found`() throws {
    for words in ["'URL/{path}' --files-from list", "'URL/{index}/{name}' --files-from list"] {
      let sent = try Gate()
      let server = try ScriptedServer { _ in [.readBody, .open(sent), .respond(200)] }
      let place = try TemporaryDirectory()
      _ = try shell("mkfifo list; echo a > a; echo b > b", in: place)
      let run = try RunningProgram(
        program: "/bin/bash",
        rawArguments: [
          Array("-c".utf8),
          Array(
            """
            \(builtBinary("formstream")) send -q --put \(words.replacing("URL", with: server.url)) & pid=$!
            exec 3> list; echo a >&3; until [ -e over ]; do sleep 0.1; done
            echo b >&3; exec 3>&-; wait $pid
            """.utf8),
        ], in: place)
      // The list goes on only after the first file has arrived.
      #expect(sent.wait())
      try place.write("over", "")
      let result = try run.wait()
      #expect(result.exit == 0, "\(result.stderr)")
      #expect(server.requests.count == 2)
    }
  }

  /// Regression: "two files" were refused although one of them could never be sent.
  @Test(arguments: [
    ("rm B/x/f", "--files-from list", "66"), ("rm B/x/f; mkfifo B/x/f", "--files-from list", "66"),
    ("rm B/x/f; ln -s ../h B/x/f", "--files-from list", "66"),
    ("chmod 0 B/x/f", "--files-from list", "66"), ("chmod 0 B/x/f", "A/x B/x", "66"),
    ("chmod 0 A/x/f", "--files-from list", "66"),
    ("chmod 0 B/x/f", "--journal ../j --files-from list", "66"),
    ("rm B/x/f; ln -s /etc/passwd B/x/f; $F plan --files-from list -o m", "--manifest m", "66"),
    // Another run, or this one later, may be able to read what a manifest names.
    ("$F plan --files-from list -o m; chmod 0 B/x/f", "--manifest m", "64"),
  ])
  func `an entry that can't be sent has no URL`(
    _ preparation: String, _ words: String, _ exit: String
  ) throws {
    // Files without permissions can't be read by the superuser either, then.
    let (run, found) = try put(
      """
      printf 'A/x/f\\nB/x/f\\n' > list; rm -r A/x/g.txt
      \(preparation)
      without=; [ $(id -u) != 0 ] || without='setpriv --bounding-set=-dac_override,-dac_read_search'
      $without "$F" send --put 'URL/{name}' \(words); echo $?
      """)
    #expect(run.output == "\(exit)\n", "\(run.stderr)")
    let kept = preparation.contains("A/x/f") ? "B/x/f\n" : "A/x/f\n"
    #expect(found == (exit == "64" ? [:] : ["/f": kept]), "\(run.stderr)")
  }

  @Test func `put does not send two files to one URL`() throws {
    for verb in ["put", "put -T x/f -T A/x/f"] {
      let files = verb == "put" ? "A/x/f B/x/f" : ""
      let (run, found) = try put("$F \(verb) \(files) URL/up/")
      #expect(run.exit == 64, "\(run.stderr)")
      #expect(run.stderr.contains("A/x/f"), "\(run.stderr)")
      #expect(found.isEmpty)
    }
  }
}
