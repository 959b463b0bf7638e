import Testing

/// Something that curl 7.88 does in another way with cookies: a row of the table in docs/cookies.md, with a trial that shows it.
struct CookieDifference: Sendable, CustomTestStringConvertible {
  /// The first cell of the row.
  let title: String
  let trial: CookieTrial
  /// The cookies of the last request.
  let curl: [String]
  let ours: [String]
  /// Whether the order of the cookies is the difference.
  var isAboutOrder = false

  var testDescription: String { title }

  init(
    _ title: String, file: [String] = [], _ steps: [(String, [String])], curl: [String], ours: [String],
    isAboutOrder: Bool = false
  ) {
    (self.title, self.curl, self.ours, self.isAboutOrder) = (title, curl, ours, isAboutOrder)
    trial = CookieTrial(file: file, steps: steps.map { .init(url: $0.0, sets: $0.1) })
  }

  init(_ title: String, _ trial: CookieTrial, curl: [String], ours: [String]) {
    (self.title, self.trial, self.curl, self.ours) = (title, trial, curl, ours)
  }

  private static let (a, below, loopback) = ("http://a.example/", "http://b.a.example/", "http://127.0.0.1/")
  private static func long(_ count: Int) -> String { String(repeating: "v", count: count) }

  static let all: [CookieDifference] = [
    CookieDifference(
      "the order of cookies whose paths are equally long", [(a, ["b=1", "c=2", "aaa=3"]), (a, [])],
      curl: ["aaa=3", "c=2", "b=1"], ours: ["b=1", "c=2", "aaa=3"], isAboutOrder: true),
    CookieDifference(
      "names that differ in case", [(a, ["a=1", "A=2"]), (a, [])], curl: ["A=2"], ours: ["a=1", "A=2"]),
    CookieDifference(
      "paths that differ in case", [(a + "x", ["a=1; Path=/x", "a=2; Path=/X"]), (a + "x", [])],
      curl: [], ours: ["a=1"]),
    CookieDifference("a cookie without a name", [(a, ["=v; Foo=2"]), (a, [])], curl: ["Foo=2"], ours: ["v"]),
    CookieDifference("a cookie without `=`", [(a, ["v"]), (a, [])], curl: [], ours: ["v"]),
    CookieDifference("`Secure` with a value", [(a, ["a=1; Secure=1"]), (a, [])], curl: ["a=1"], ours: []),
    CookieDifference(
      "a `Max-Age` that is not a number", [(a, ["a=1; Max-Age=x", "b=2; Max-Age="]), (a, [])], curl: [],
      ours: ["a=1", "b=2"]),
    CookieDifference("a `Max-Age` in quotes", [(a, ["a=1; Max-Age=\"0\""]), (a, [])], curl: [], ours: ["a=1"]),
    CookieDifference(
      "an `Expires` without a time of day", [(a, ["a=1; Expires=Thu, 01 Jan 1970"]), (a, [])], curl: [],
      ours: ["a=1"]),
    CookieDifference(
      "an `Expires` with unknown words", [(a, ["a=1; Expires=Day, 01 Jan 1970 00:00:00 GMT"]), (a, [])],
      curl: ["a=1"], ours: []),
    CookieDifference(
      "several `Expires`, the last of them no date",
      [(a, ["a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Expires=never"]), (a, [])], curl: ["a=1"], ours: []),
    CookieDifference(
      "several `Domain`, the last of them empty", [(a, ["a=1; Domain=a.example; Domain="]), (below, [])],
      curl: ["a=1"], ours: []),
    CookieDifference(
      "several `Domain`, the last of them the host's own",
      [(a, ["a=1; Domain=other.example; Domain=a.example"]), (a, [])], curl: [], ours: ["a=1"]),
    CookieDifference(
      "a public suffix that is a host itself",
      [("http://co.uk/", ["a=1; Domain=co.uk"]), ("http://a.co.uk/", [])], curl: ["a=1"], ours: []),
    CookieDifference(
      "a `Path` that doesn't begin with `/`", [(a + "x/y", ["a=1; Path=z"]), (a, [])], curl: ["a=1"], ours: []),
    CookieDifference(
      "a control character outside of name and value", [(a, ["a=1; Foo=\u{1}"]), (a, [])], curl: ["a=1"],
      ours: []),
    CookieDifference(
      "a header of more than 5,000 bytes",
      [(a, ["a=1" + String(repeating: "; Foo=\(long(1000))", count: 6)]), (a, [])], curl: [], ours: ["a=1"]),
    CookieDifference(
      "an attribute of more than 1,024 bytes", [(a, ["a=1; Path=/\(long(1024))"]), (a, [])], curl: [],
      ours: ["a=1"]),
    CookieDifference(
      "a value of 4,095 bytes", [(a, ["a=\(long(4095))"]), (a, [])], curl: [], ours: ["a=\(long(4095))"]),
    CookieDifference(
      "more than 8 KiB of cookies and other headers", [(a, ["a=\(long(4080))", "b=\(long(4090))"]), (a, [])],
      curl: ["b=\(long(4090))"], ours: ["a=\(long(4080))", "b=\(long(4090))"]),
    CookieDifference(
      "more cookies than one line has room for", [(a, ["a=\(long(4000))", "b=\(long(4000))", "c=\(long(4000))"]), (a, [])],
      curl: ["b=\(long(4000))", "c=\(long(4000))"], ours: ["a=\(long(4000))", "b=\(long(4000))"]),
    CookieDifference(
      "more than 180 cookies that servers set for a domain",
      [(a, (0..<40).map { "old\($0)=1; Path=/old" })]
        + (0..<3).map { step in (a, (0..<50).map { "c\(step)-\($0)=1; Path=/new" }) } + [(a + "old", [])],
      curl: (0..<40).map { "old\($0)=1" }, ours: (31..<40).map { "old\($0)=1" }),
    CookieDifference(
      "`__Host-` without `Path=/`", [(loopback, ["__Host-a=1; Secure"]), (loopback, [])], curl: ["__Host-a=1"],
      ours: []),
    CookieDifference(
      "`__Host-` with the host's address as `Domain`",
      [(loopback, ["__Host-a=1; Secure; Path=/; Domain=127.0.0.1"]), (loopback, [])], curl: ["__Host-a=1"],
      ours: []),
    CookieDifference(
      "a cookie without `Secure` beside a `Secure` one of a domain above or below",
      file: [".a.example\tTRUE\t/\tTRUE\t0\ta\t1"], [(below, ["a=2"]), (below, [])], curl: ["a=2"], ours: []),
    CookieDifference(
      "a cookie without `Secure` whose path begins like that of a `Secure` one",
      file: ["a.example\tFALSE\t/login\tTRUE\t0\ta\t1"],
      [(a, ["a=2; Path=/loginhelper"]), (a + "loginhelper", [])], curl: [], ours: ["a=2"]),
    CookieDifference(
      "a cookie of a file that a server removes", file: ["a.example\tFALSE\t/\tFALSE\t0\ta\t1"],
      [(a, ["a=; Max-Age=0"]), (a, [])], curl: ["a=1"], ours: []),
    CookieDifference(
      "a line of a file with an empty date", file: ["a.example\tFALSE\t/\tFALSE\t\ta\t1"], [(a, [])], curl: [],
      ours: ["a=1"]),
    CookieDifference(
      "a line of a file with an empty name", file: ["a.example\tFALSE\t/\tFALSE\t0\t\tv"], [(a, [])],
      curl: ["v="], ours: ["v"]),
    CookieDifference(
      "a `Set-Cookie:` line of a file without `Domain`", file: ["Set-Cookie: a=1"],
      [(a, []), (loopback, [])], curl: ["a=1"], ours: []),
    CookieDifference(
      "a line of a file for the hosts below a public suffix", file: [".co.uk\tTRUE\t/\tFALSE\t0\ta\t1"],
      [("http://a.co.uk/", [])], curl: ["a=1"], ours: []),
    CookieDifference(
      "a `Set-Cookie:` line of a file for a public suffix", file: ["Set-Cookie: a=1; Domain=co.uk"],
      [("http://a.co.uk/", [])], curl: ["a=1"], ours: []),
    CookieDifference(
      "a header in several lines", [(a, ["a=1\r\n 2"]), (a, [])], curl: ["a=1"], ours: ["a=1 2"]),
    CookieDifference(
      "a cookie of an interim response", CookieTrial(steps: [.init(url: a, interim: ["a=1"]), .init(url: a)]),
      curl: ["a=1"], ours: []),
    CookieDifference(
      "a cookie of a response with several lengths",
      CookieTrial(steps: [
        .init(
          url: a, sets: ["a=1"], headers: [("Content-Length", "1"), ("Content-Length", "2")], isRefused: true),
        .init(url: a),
      ]),
      curl: ["a=1"], ours: []),
    CookieDifference(
      "cookies of `-b 'NAME=VALUE'` after a redirect to another server",
      CookieTrial(
        steps: [
          .init(url: below), .init(url: a, headers: [("Location", "\(below)?0")]),
        ], own: "own=1"),
      curl: ["own=1"], ours: []),
  ]
}
