extension Verb {
  /// A command line for help and man page.
  struct Example {
    let purpose: String
    let line: String
    /// Whether the overview of all commands shows the example.
    var isInOverview = false
  }

  static let overviewExamples = allCases.flatMap(\.examples).filter(\.isInOverview)

  var examples: [Example] {
    switch self {
    case .post:
      [
        Example(
          purpose: "send a form with a photo; the response goes to standard output",
          line: "formstream post -F title=Sunset -F photo=@sunset.jpg https://example.org/photos",
          isInOverview: true),
        Example(
          purpose: "for a script: a record, up to three attempts, a token from a file",
          line:
            "formstream post --json --retry 2 --token-file token -F photo=@sunset.jpg https://example.org/",
          isInOverview: true),
        Example(
          purpose: "print what would be sent",
          line: "formstream post --dry-run -F photo=@sunset.jpg https://example.org/photos"),
        Example(
          purpose: "send JSON",
          line: "formstream post --json-body '{\"title\":\"Sunset\"}' https://example.org/photos"),
      ]
    case .put:
      [
        Example(
          purpose: "send a file, and add its name to the URL",
          line: "formstream put -T sunset.jpg https://example.org/photos/", isInOverview: true),
        Example(
          purpose: "send a pipe, at most 1 MiB a second",
          line:
            "tar cz photos | formstream put -T - --limit-rate 1M https://example.org/photos.tgz"),
      ]
    case .get:
      [
        Example(
          purpose: "go on with a download that broke off, and check what arrived",
          line:
            "formstream get -C - -O --sha256 \"$(cat film.sha256)\" https://example.org/films/film.mp4"
        ),
        Example(
          purpose: "store several files, each under the name at the end of its URL",
          line:
            "formstream get --remote-name-all https://example.org/a.jpg https://example.org/b.jpg"),
        Example(
          purpose: "print a compressed text",
          line: "formstream get --compressed https://example.org/words.txt"),
      ]
    case .send:
      [
        Example(
          purpose: "send all photos below a directory, eight at a time",
          line:
            "find photos -type f -print0 | formstream send -j 8 https://example.org/ --files-from0 -",
          isInOverview: true),
        Example(
          purpose: "print a record for each file, and a summary",
          line: "formstream send --json -F album=Summer https://example.org/photos *.jpg"),
      ]
    case .plan:
      [
        Example(
          purpose: "list the files below a directory, sorted",
          line: "formstream plan --sort -o photos.manifest photos"),
        Example(
          purpose: "list the files that another program names, without drafts",
          line:
            "find . -name '*.jpg' -print0 | formstream plan --exclude 'draft-*' --files-from0 - -o m"
        ),
      ]
    case .report:
      [
        Example(
          purpose: "see what became of the files, and write down the rest",
          line:
            "formstream report --manifest photos.manifest --failed rest.manifest journals"),
        Example(
          purpose: "see how last night's run went, in a browser",
          line: "formstream report --html night.html journals"),
      ]
    case .receive:
      [
        Example(
          purpose: "store the uploads of programs and browsers on this machine",
          line: "formstream receive --into received", isInOverview: true),
        Example(
          purpose: "accept one upload from another machine, if it sends the token",
          line: "formstream receive --listen :8080 --into . --once --token-file token"),
        Example(
          purpose: "print records for a script, and listen at any free port",
          line: "formstream receive --listen 127.0.0.1:0 --into received --json"),
      ]
    case .encode:
      [
        Example(
          purpose: "write a form with a text field and a photo to a file",
          line: "formstream encode -F title=Sunset -F photo=@sunset.jpg -o body.bin",
          isInOverview: true),
        Example(
          purpose: "print its headers",
          line: "formstream encode --boundary B --headers -F photo=@sunset.jpg"),
        Example(
          purpose: "print an outline, with offsets",
          line: "formstream encode --dry-run -F title=Sunset -F photo=@sunset.jpg"),
        Example(
          purpose: "use values and paths in which nothing is special",
          line:
            "formstream encode --field 'note=a; b' --file 'data=a,b.csv' --type text/csv -o body.bin"
        ),
        Example(
          purpose: "use a pipe as a part",
          line: "tar cz photos | formstream encode -F 'set=@-;filename=photos.tgz' -o body.bin"),
      ]
    case .parse:
      [
        Example(
          purpose: "list the parts of a body in a file; its boundary is found",
          line: "formstream parse body.bin"),
        Example(
          purpose: "list the parts of a body that has this boundary, and no other",
          line: "formstream parse --boundary B body.bin"),
        Example(
          purpose: "store the files of a body in a directory, and print a record",
          line: "formstream parse --boundary B --into received --json body.bin",
          isInOverview: true),
        Example(
          purpose: "read a pipe, with the Content-Type of the request",
          line: "formstream parse --content-type 'multipart/form-data; boundary=B' - < body.bin"),
        Example(
          purpose: "accept a body with many parts",
          line: "formstream parse --boundary B --limit parts=1000000 body.bin"),
      ]
    case .bench:
      [
        Example(
          purpose: "compare an upload of 1 GiB with curl's", line: "formstream bench --with curl"),
        Example(
          purpose: "see what is chance: the same program twice",
          line: "formstream bench --size 100M --rounds 15 --with formstream"),
        Example(
          purpose: "draw the memory that uploads of several sizes need",
          line: "formstream bench --size 1M,64M,1G --with curl,requests --plot memory.svg"),
        Example(
          purpose: "measure any program, with your server",
          line: "formstream bench http://127.0.0.1:8080/ --size 10M -- curl -sS -T {file} {url}"),
      ]
    case .sniff:
      [
        Example(
          purpose: "print a file's type, and how it was detected",
          line: "formstream sniff sunset.jpg"),
        Example(
          purpose: "print the types of all files below a directory",
          line: "find photos -type f -print0 | formstream sniff --json --files-from0 -"),
        Example(
          purpose: "set the type of files that can't be detected",
          line: "formstream sniff --type-for '*.dat=application/x-measurements' a.dat"),
      ]
    }
  }
}
