import FormStreamTestSupport
import Testing

/// Completions, in the shells that they are for.
@Suite struct CompletionTests {
  /// A line with a tab at its end, and the words that it becomes.
  struct Line: Sendable {
    let typed: String
    let words: [String]

    init(_ typed: String, _ words: String...) { (self.typed, self.words) = (typed, words) }
  }

  /// Lines that mean the same in bash and zsh.
  static let lines = [
    Line("en", "encode"),
    Line("he", "help"),
    Line("help pos", "help", "post"),
    Line("post --json-b", "post", "--json-body"),
    // Flags of another command.
    Line("parse --json-b", "parse", "--json-b"),
    Line("receive --answ", "receive", "--answer"),
    Line("-K bod", "-K", "body.bin"),
    Line("parse bod", "parse", "body.bin"),
    Line("encode bod", "encode", "bod"),
    Line("encode -o bod", "encode", "-o", "body.bin"),
    Line("encode --output=bod", "encode", "--output=body.bin"),
    Line("encode --escaping ba", "encode", "--escaping", "backslash"),
    Line("encode --escaping=ba", "encode", "--escaping=backslash"),
    Line("encode --field sun", "encode", "--field", "sun"),
    // The name is a flag of two commands.
    Line("get --range bod", "get", "--range", "bod"),
    Line("encode --file photo=sun", "encode", "--file", "photo=sunset.jpg"),
    Line("encode -F photo=@sun", "encode", "-F", "photo=@sunset.jpg"),
    Line("encode -F photo=sun", "encode", "-F", "photo=sun"),
    Line("encode -Fphoto=@sun", "encode", "-Fphoto=@sunset.jpg"),
    Line("encode --form=photo=@sun", "encode", "--form=photo=@sunset.jpg"),
    Line("encode -F 'note=<bod", "encode", "-F", "note=<body.bin"),
    Line("encode -F \"photo=@my f", "encode", "-F", "photo=@my file.txt"),
    Line("encode -F photo=@my\\ f", "encode", "-F", "photo=@my file.txt"),
    Line("post -d @bod", "post", "-d", "@body.bin"),
    Line("post --data-urlencode n@bod", "post", "--data-urlencode", "n@body.bin"),
    Line("post --data-raw @bod", "post", "--data-raw", "@bod"),
    Line("post @bod", "post", "@body.bin"),
    Line("put @bod", "put", "@body.bin"),
    Line("put bod", "put", "body.bin"),
    Line("get @bod", "get", "@bod"),
    // Directories, and no files.
    Line("parse --into bod", "parse", "--into", "bod"),
    Line("receive --into bo", "receive", "--into", "boxes/"),
    Line("send --journal=bo", "send", "--journal=boxes/"),
    Line("send --journal bod", "send", "--journal", "bod"),
    Line("get --output-dir bo", "get", "--output-dir", "boxes/"),
  ]

  private static let files = "mkdir -p boxes; touch sunset.jpg 'my file.txt' body.bin"

  /// Types all lines into a shell on a terminal, and compares the words that it would run the command with.
  private func expectCompletions(_ shell: String, after start: String) throws {
    let program = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
    let place = try TemporaryDirectory()
    let made = try FormStreamCommandLineTests.shell(
      "\(Self.files); $F --generate \(shell) > _formstream && \(shell) -n _formstream", in: place)
    #expect(made.exit == 0, "\(made.stderr)")
    let run = try FormStreamTestSupport.run(
      program: "/usr/bin/env",
      [
        "python3", (program + ["Terminal", "complete.py"]).joined(separator: "/"), shell, start,
      ] + Self.lines.map { "formstream \($0.typed)\t" }, in: place)
    #expect(run.exit == 0, "\(run.stderr)")
    // zsh removes the slash of a directory that is accepted.
    let expected = Self.lines.map { $0.words.map { "<\($0)>" }.joined().replacing("/>", with: ">") }
    let found = run.output.split(separator: "\n").map { $0.replacing("/>", with: ">") }
    for (index, line) in expected.enumerated() {
      #expect(index < found.count && found[index] == line, "\(Self.lines[index].typed)")
    }
  }

  /// bash-completion and some people's settings change where readline splits words.
  @Test(arguments: [
    "", "source /usr/share/bash-completion/bash_completion; ", "shopt -u hostcomplete; ",
    "COMP_WORDBREAKS=${COMP_WORDBREAKS//[=@]}; ",
  ])
  func `bash completes what is typed, wherever it splits words`(_ setting: String) throws {
    try expectCompletions("bash", after: "\(setting)source ./_formstream")
  }

  @Test func `zsh completes what is typed`() throws {
    try expectCompletions(
      "zsh", after: "fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -d dump")
  }

  @Test func `a directory is completed without a blank after it`() throws {
    let run = try shell(
      """
      mkdir -p one/two; touch one/two/three
      $F --generate bash > _formstream
      python3 '\(#filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/"))/Terminal/complete.py' \
        bash 'source ./_formstream' $'formstream encode -F f=@on\ttw\tth\t'
      """)
    #expect(run.output == "<encode><-F><f=@one/two/three>\n", "\(run.stderr)")
  }

  /// What fish offers at the end of a line.
  private func fishOffers(_ line: String, in place: TemporaryDirectory) throws -> [String] {
    let run = try shell(
      """
      export HOME=$PWD; \(Self.files)
      [ -e f.fish ] || { $F --generate fish > f.fish && fish --no-execute f.fish; } || exit 1
      fish --no-config -c 'source f.fish; complete -C $argv[1]' -- '\(line.replacing("'", with: "'\\''"))'
      """, in: place)
    #expect(run.exit == 0 && run.stderr.isEmpty, "\(run.stderr)")
    return run.output.split(separator: "\n")
      .map { String($0.prefix { $0 != "\t" }) }
  }

  @Test func `fish completes what is typed`() throws {
    let place = try TemporaryDirectory()
    // Here, only the last word is shown, and a choice after "=" belongs to it.
    for line in Self.lines {
      let typed = "formstream \(line.typed)"
      let last = line.words[line.words.count - 1]
      let isUnchanged = line.typed.hasSuffix(last)
      let offers = try fishOffers(typed, in: place).map { offer in
        offer.drop { "'\"".contains($0) }
      }
      #expect(
        isUnchanged ? offers.isEmpty : offers.contains(last[...]), "\(line.typed): \(offers)")
    }
  }

  @Test(arguments: DocumentTests.verbs)
  func `each shell offers the flags of the command, and no others`(_ verb: String) throws {
    let known = try flags(inHelpOf: verb).union(generalFlags)
    let bash = try shell("source <($F --generate bash); _formstream_flags \(verb)").output
    #expect(
      Set(bash.split(whereSeparator: \.isWhitespace).map { $0.dropFirst(2) })
        == Set(known.map { $0[...] }))
    let zsh = try shell("$F --generate zsh | sed -n '/^    \(verb))/,/;;$/p'").output
    let zshNames = zsh.matches(of: /'\*--(?<name>[a-z0-9.-]+)/).map { String($0.name) }
    #expect(Set(zshNames) == known)
    let place = try TemporaryDirectory()
    let fish = try fishOffers("formstream \(verb) --", in: place).map { $0.dropFirst(2) }
    #expect(Set(fish.map { $0.filter { $0 != "=" } }) == known)
  }
}
