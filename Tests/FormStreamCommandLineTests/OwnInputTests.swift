import FormStreamTestSupport
import Testing

/// No command replaces a file that it reads: each flag that reads a file with each output, through all kinds of links.
@Suite struct OwnInputTests {
  /// How a flag of the manual is typed so that it reads the file `{}`, and what the file holds.
  private struct Reader {
    var typed: String
    var contents = "secret:1\n"
    /// Whether it makes a body.
    var isBody = false
  }

  private static let readers: [String: Reader] = [
    "form": Reader(typed: "-F a=@{}", isBody: true),
    "file": Reader(typed: "--file a={}", isBody: true),
    "upload-file": Reader(typed: "-T {}", isBody: true),
    "data": Reader(typed: "-d @{}", isBody: true),
    "data-binary": Reader(typed: "--data-binary @{}", isBody: true),
    "data-urlencode": Reader(typed: "--data-urlencode n@{}", isBody: true),
    "json-body": Reader(typed: "--json-body @{}", isBody: true),
    "url-query": Reader(typed: "--url-query n@{}"), "header": Reader(typed: "-H @{}"),
    "header-file": Reader(typed: "--header-file {}"),
    "url-file": Reader(typed: "--url-file {}", contents: "http://127.0.0.1:1/k\n"),
    "user-file": Reader(typed: "--user-file {}"), "token-file": Reader(typed: "--token-file {}"),
    "netrc-file": Reader(
      typed: "--netrc-file {}", contents: "machine 127.0.0.1 login a password b\n"),
    "cookie": Reader(typed: "-b {}", contents: "Set-Cookie: a=b\n"),
    "cacert": Reader(typed: "--cacert {}"), "cert": Reader(typed: "--cert {}:phrase"),
    "key": Reader(typed: "--cert g --key {}"),
    "pass-file": Reader(typed: "--cert g --pass-file {}"),
    "pinnedpubkey": Reader(typed: "--pinnedpubkey {}"),
    "proxy-user-file": Reader(typed: "-x p:1 --proxy-user-file {}"),
    "proxy-cacert": Reader(typed: "--proxy-cacert {}"), "write-out": Reader(typed: "-w @{}"),
    "config": Reader(typed: "-K {}", contents: "# nothing\n"),
    "magic-file": Reader(typed: "--magic-file {}"), "manifest": Reader(typed: "--manifest {}"),
    "files-from": Reader(typed: "--files-from {}", contents: "g\n"),
    "files-from0": Reader(typed: "--files-from0 {}", contents: "g\0"),
    // Only its time is read.
    "time-cond": Reader(typed: "-z {}"),
    "tls-cert": Reader(typed: "--tls-cert {} --tls-key g"),
    "tls-key": Reader(typed: "--tls-cert g --tls-key {}"),
    "from": Reader(typed: "--from {}"),
    // A word that is no flag.
    "": Reader(typed: "{}", isBody: true),
  ]

  /// How a flag is typed so that it writes to the file `{}`.
  private static let writers = [
    "output": "-o {}", "dump-header": "-D {}", "cookie-jar": "-c {}", "failed": "--failed {}",
    "journal": "--journal {}", "into": "--into {}", "output-dir": "-O --output-dir {}",
    "remote-name": "-O", "log": "--log {}", "map": "--map {} --map-value id",
    "plot": "--plot {}", "html": "--html {}", "resume-file": "--resumable --resume-file {}",
  ]

  /// Flags with a value that names neither.
  private static let others: Set<String> = [
    "unix-socket", "capath", "data-raw", "part-header",
    // `plan` replaces no file.
    "against",
  ]

  /// Placeholders of values that name no files. A flag with another one must be in the tables above.
  private static let placeholders: Set<String> = [
    "N", "N,N", "S", "SIZE", "SIZE[,SIZE]...", "PROGRAM[,PROGRAM]...", "RATE", "HEX", "NAME", "NAME=N", "NAME=VALUE",
    "NAME=TEMPLATE", "TYPE",
    "GLOB", "GLOB=TYPE", "POLICY", "PROFILE", "B", "OFF:LEN", "K/N", "METHOD", "TARGET", "TEXT",
    "URL", "KEY",
    "USER:PASS", "TOKEN", "PHRASE", "=https", "CODING", "HOW", "WHEN", "KIND", "STATUS", "VERSION",
    "ADDR:PORT", "HOST[:PORT]", "[SCHEME://]HOST[:PORT]", "HOSTS", "HOST:PORT:ADDRESS",
    "HOST:PORT:HOST:PORT", "FIRST-LAST", "-", "-|N",
  ]

  private static let verbs = [
    "post", "put", "get", "send", "plan", "report", "receive", "encode", "parse", "sniff",
    "bench",
  ]

  /// The flags of a command that may name files, by the declarations that its page of the manual is made from.
  private static func flagsWithFiles(of verb: String) throws -> [String] {
    let page = try formstream(verb, "--generate", "man").output.replacing("\\-", with: "-")
      .replacing("\\&", with: "")
    let flags = page.matches(of: /\\fB--(?<name>[a-z0-9.-]+)\\fR \\fI(?<value>[^\\]+)\\fR\n/)
    #expect(!flags.isEmpty)
    return flags.compactMap { flag in
      let (name, value) = (String(flag.name), String(flag.value))
      let isPathInJSON = ["verify", "map-value"].contains(name)
      return placeholders.contains(value) || isPathInJSON ? nil : name
    }
  }

  @Test(arguments: verbs) func `it is known of each flag whether it reads or writes a file`(
    _ verb: String
  ) throws {
    for flag in try Self.flagsWithFiles(of: verb) {
      let isKnown =
        Self.readers[flag] != nil || Self.writers[flag] != nil || Self.others.contains(flag)
      #expect(
        isKnown, "--\(flag) of \(verb): add it to the tables here, and its use to its declaration.")
    }
  }

  /// What is typed besides the file that is read; nil if the command has no words.
  private static func rest(of verb: String, _ flag: String, _ url: String) -> String {
    let reader = readers[flag]
    switch verb {
    case "put" where reader?.isBody == false: return "-d a" + (flag == "url-file" ? "" : " \(url)")
    case "get" where reader?.isBody == true: return "-G \(url)"
    case "post", "put", "get": return flag == "url-file" ? "" : url
    case "send":
      let words = flag == "url-file" ? "" : url
      return ["", "manifest", "files-from", "files-from0"].contains(flag) ? words : "\(words) g"
    case "plan": return ["", "files-from", "files-from0"].contains(flag) ? "" : "g"
    case "report": return "d"
    case "encode": return flag == "magic-file" ? "-F a=@g" : flag == "config" ? "-F a=b" : ""
    case "parse": return "--boundary B" + (flag.isEmpty ? "" : " g")
    case "sniff": return "g"
    default: return ""
    }
  }

  private static func place(_ contents: String) throws -> TemporaryDirectory {
    let place = try TemporaryDirectory()
    try place.write("k", contents)
    try place.write("g", "other\n")
    _ = try shell("mkdir d; ln -s k l; ln k h; ln -s . dl; chmod 600 k g", in: place)
    return place
  }

  /// The names of one file.
  private static let names = ["k", "./k", "l", "h", "dl/k"]

  @Test(arguments: verbs) func `an input is never replaced by an output of the same command`(
    _ verb: String
  ) throws {
    let server = try ScriptedServer { _ in .good() }
    let page = try formstream(verb, "--generate", "man").output.replacing("\\-", with: "-")
    var flags = try Self.flagsWithFiles(of: verb).filter { Self.readers[$0] != nil }
    if !["post", "get", "receive", "encode", "bench"].contains(verb) { flags.append("") }
    var writers = Self.writers.filter { page.contains("\\fB--\($0.key)\\fR") }
    // Standard output, to which something is appended.
    writers[">>"] = ">> {}"
    var (cells, number) = (0, 0)
    for flag in flags {
      let reader = try #require(Self.readers[flag])
      let place = try Self.place(reader.contents)
      for (writer, typed) in writers.sorted(by: { $0.key < $1.key }) {
        if flag == "cookie", writer == "cookie-jar" { continue }
        // -z asks whether what is there is to be replaced by the response.
        if flag == "time-cond", writer != "dump-header", writer != "cookie-jar" { continue }
        // Only messages go to the standard output of send, and a word of report is a directory.
        if writer == ">>", verb == "send" { continue }
        if verb == "report", flag.isEmpty { continue }
        number += 1
        // Each pair has one of the names in turn.
        let all = triesAllCells ? Self.names : [Self.names[number % Self.names.count]]
        for name in all {
          // -O has no directories, and --output-dir must be the file.
          if writer == "remote-name", name.contains("/") || flag == "url-file" { continue }
          cells += 1
          let url = writer == "remote-name" ? "\(server.url)/\(name)" : "\(server.url)/x"
          let read = reader.typed.replacing("{}", with: writer == "remote-name" ? "k" : "./k")
          let rest = Self.rest(of: verb, flag, url)
          let words = verb == "send" ? "\(rest) \(read)" : "\(read) \(rest)"
          let line = "\(verb) \(words) \(typed.replacing("{}", with: name))"
          let result = try shell("timeout 20 \"$F\" \(line)", in: place)
          #expect(result.exit == 64, "\(line): \(result.stderr)")
          let isExplained =
            result.stderr.contains("would replace the file \"")
            || result.stderr.contains("would append to the file \"")
            || result.stderr.contains("also the standard output")
          #expect(isExplained, "\(line): \(result.stderr)")
          let left = try shell("cat k; readlink l; stat -c %h k", in: place).output
          #expect(left == reader.contents + "k\n2\n", "\(line)")
        }
      }
    }
    #expect(server.requests.isEmpty)
    print("OwnInputTests: \(verb): \(cells) cells")
  }

  // MARK: Inputs that no flag names

  @Test(arguments: [
    ("get -n -o .netrc U", "--netrc reads"), ("get -n -c h/.netrc U", "--netrc reads"),
    ("get -D k U", "CURL_CA_BUNDLE reads"), ("send -c d/f U d", "in the directory \"d\""),
    ("send -c dl/d/f U .", "in the directory \".\""),
    ("send --log d/f U d", "append to the file \"d/f\" in the directory \"d\""),
    ("send --log d/new U d", "append to the file \"d/new\" in the directory \"d\""),
    ("send --map dl/d/new --map-value a U .", "in the directory \".\""),
    ("get --capath d -o d/f U", "in the directory"),
    ("get -z -k -c k U", "-z reads"), ("get -K k -b k -c k U", "-K reads"),
    ("get -b k -K k -c k U", "-K reads"),
  ])
  func `files that are read by a variable, by habit or in a directory are inputs`(
    _ line: String, _ says: String
  ) throws {
    let place = try Self.place("# nothing\n")
    try place.write(".netrc", "machine h login a password b\n")
    try place.write("d/f", "file\n")
    _ = try shell("chmod 600 .netrc; ln -s . h2", in: place)
    let server = try ScriptedServer { _ in .good() }
    let variables = line.contains("-D k") ? "CURL_CA_BUNDLE=k" : ""
    let typed = line.replacing(" U", with: " \(server.url)").replacing(" h/", with: " h2/")
    let result = try shell("HOME=$PWD \(variables) \"$F\" \(typed)", in: place)
    #expect(result.exit == 64, "\(result.stderr)")
    #expect(result.stderr.contains(says), "\(result.stderr)")
    #expect(
      try shell("cat .netrc k d/f", in: place).output
        == "machine h login a password b\n# nothing\nfile\n")
    #expect(server.requests.isEmpty)
  }

  /// What a list names is known only when it is read.
  @Test func `a file of a list is not replaced by the cookies`() throws {
    let place = try Self.place("k: text\n")
    let server = try ScriptedServer { _ in .good(headers: [("Set-Cookie", "a=b")]) }
    let result = try shell(
      "printf 'g\\nk\\n' > list; $F send -c l --files-from list \(server.url); echo $?; cat k",
      in: place)
    #expect(result.output == "74\nk: text\n", "\(result.stderr)")
    #expect(result.stderr.contains("-c would replace the file"), "\(result.stderr)")
  }

  @Test(arguments: ["--log l", "--map l --map-value a"])
  func `a file of a list is not sent while lines are added to it`(_ flags: String) throws {
    let place = try Self.place("k: text\n")
    let server = try ScriptedServer { _ in .good() }
    let result = try shell(
      "echo k > list; $F send \(flags) --files-from list \(server.url); echo $?; cat k", in: place)
    #expect(result.output == "74\nk: text\n", "\(result.stderr)")
    #expect(result.stderr.contains("appends to the file \"l\", which is among the files"), "\(result.stderr)")
    #expect(server.requests.isEmpty)
  }

  @Test(arguments: [
    "--log x --map ./x --map-value a", "--log k --map l --map-value a", "--failed x --log x",
    "--map x --map-value a -c x",
  ])
  func `two flags can't write one file`(_ flags: String) throws {
    let place = try Self.place("k: text\n")
    let server = try ScriptedServer { _ in .good() }
    let result = try shell("$F send \(flags) \(server.url) g; echo $?; cat k", in: place)
    #expect(result.output == "64\nk: text\n", "\(result.stderr)")
    #expect(result.stderr.contains("both write the file"), "\(result.stderr)")
    #expect(server.requests.isEmpty)
  }

  @Test(arguments: [
    ("--token-file in/t --into in", true), ("--token-file t --into .", true),
    ("--token-file in/t --into . --keep-paths", true), ("--token-file lt --into in", true),
    ("-K in/t --into in", true), ("--token-file t --into in >> in/log", true),
    ("--token-file t --into in 2>> in/log", true),
    ("--token-file t --into in", false), ("--token-file t --into in --keep-paths", false),
  ])
  func `an upload can't replace what the receiver reads`(
    _ flags: String, _ isRefused: Bool
  ) throws {
    let place = try TemporaryDirectory()
    let result = try shell(
      """
      mkdir in; echo token > t; echo token > in/t; ln -s in/t lt; chmod 600 t in/t
      sed -i 's/.*/# &/' $(test "\(flags)" = "-K in/t --into in" && echo in/t || echo /dev/null)
      "$F" receive --overwrite --listen 203.0.113.1:0 \(flags); exit=$?; test ! -e in/log || cat in/log >&2; echo $exit >&2
      """, in: place)
    // The others go on, and can't listen at an address of another machine.
    #expect(result.stderr.hasSuffix("64\n") == isRefused, "\(result.stderr)")
    #expect(result.stderr.contains("an upload could replace the file of") == isRefused)
  }
}
