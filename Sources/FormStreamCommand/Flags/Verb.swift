/// What the command can be asked to do.
enum Verb: String, CaseIterable, Sendable {
  case encode
  case parse
  case sniff
  case post
  case put
  case receive
  case demo

  /// Whether it sends a request.
  var sends: Bool { self == .post || self == .put }

  var summary: String {
    switch self {
    case .encode: "Write a form's body, its headers, or what it would be"
    case .parse: "Read a form's body back: its parts, its files, or where it is broken"
    case .sniff: "Tell the media types of files"
    case .post: "Send a form, or another body, and print the answer"
    case .put: "The same by PUT, for one file mostly"
    case .demo: "Send a few files to a receiver on this machine, and compare them"
    case .receive: "Take uploads as a server: store the files, answer with a record of each"
    }
  }

  /// What else there is to know before it is called.
  var note: String? {
    switch self {
    case .demo: "It needs about 1 GiB below TMPDIR, or /tmp, for some seconds."
    default: nil
    }
  }

  /// What stands behind the flags, where something does.
  struct Operand {
    let placeholder: String
    let canBeRepeated: Bool

    var usage: String { canBeRepeated ? "\(placeholder)..." : placeholder }
  }

  var operand: Operand? {
    switch self {
    case .encode, .receive, .demo: nil
    case .parse: Operand(placeholder: "FILE", canBeRepeated: false)
    case .sniff: Operand(placeholder: "PATH", canBeRepeated: true)
    case .post, .put: Operand(placeholder: "URL", canBeRepeated: false)
    }
  }

  /// Lines for the head of the help: what it does, and how it is typed.
  var examples: [(purpose: String, line: String)] {
    switch self {
    case .encode:
      [
        (
          "a form with a text field and a photo, into a file",
          "formstream encode -F title=Sunset -F photo=@sunset.jpg -o body.bin"
        ),
        (
          "its headers, at once: no file is read",
          "formstream encode --boundary B --headers -F photo=@sunset.jpg"
        ),
        (
          "what would be sent, with offsets",
          "formstream encode --dry-run -F title=Sunset -F photo=@sunset.jpg"
        ),
        (
          "values and paths taken as they are, without any language",
          "formstream encode --field 'note=a; b' --file 'data=a,b.csv' --type text/csv -o body.bin"
        ),
        (
          "a pipe as a part",
          "tar cz photos | formstream encode -F 'set=@-;filename=photos.tgz' -o body.bin"
        ),
      ]
    case .parse:
      [
        (
          "the parts of a body that was kept in a file",
          "formstream parse --boundary B body.bin"
        ),
        (
          "its files, into a directory, and a record for a script",
          "formstream parse --boundary B --into received --json body.bin"
        ),
        (
          "from a pipe, with the type that the request had",
          "formstream parse --content-type 'multipart/form-data; boundary=B' - < body.bin"
        ),
        (
          "a body of many parts from somebody who is trusted",
          "formstream parse --boundary B --limit parts=1000000 body.bin"
        ),
      ]
    case .sniff:
      [
        ("what a file is, and what told it", "formstream sniff sunset.jpg"),
        (
          "all files below a directory",
          "find photos -type f -print0 | formstream sniff --json --files-from0 -"
        ),
        (
          "a format that nothing else knows",
          "formstream sniff --type-for '*.dat=application/x-measurements' a.dat"
        ),
      ]
    case .post:
      [
        (
          "a form with a photo; the answer goes to standard output",
          "formstream post -F title=Sunset -F photo=@sunset.jpg https://example.org/photos"
        ),
        (
          "the same for a script: a record, three attempts, a token from a file",
          "formstream post --json --retry 2 --token-file token -F photo=@sunset.jpg https://example.org/"
        ),
        (
          "what would be sent, and the same as a line of curl",
          "formstream post --dry-run -F photo=@sunset.jpg https://example.org/photos"
        ),
        (
          "JSON, or fields without a form",
          "formstream post --json-body '{\"title\":\"Sunset\"}' https://example.org/photos"
        ),
      ]
    case .put:
      [
        (
          "a file, under its own name",
          "formstream put -T sunset.jpg https://example.org/photos/"
        ),
        (
          "a pipe, at most 1 MiB a second",
          "tar cz photos | formstream put -T - --limit-rate 1M https://example.org/photos.tgz"
        ),
      ]
    case .receive:
      [
        (
          "take uploads from this machine's programs and browsers into a directory",
          "formstream receive --into received"
        ),
        (
          "one upload from another machine, by whoever knows the token",
          "formstream receive --listen :8080 --into . --once --token-file token"
        ),
        (
          "records for a script, at a port that is free",
          "formstream receive --listen 127.0.0.1:0 --into received --json"
        ),
      ]
    case .demo:
      [("see that it works, and what it costs", "formstream demo")]
    }
  }
}
