import FormStreamBatch
import FormStreamHTTP
import FormStreamTestSupport
import Testing

@testable import FormStreamCommand

/// Whether the session of a command keeps cookies.
@Suite struct PlannedCookiesTests {
  /// The cookies of one server could reach another one, and the user would not know.
  @Test(arguments: [true, false])
  func `a command that keeps cookies says if it has no list of public suffixes`(
    knowsPublicSuffixes: Bool
  ) throws {
    for (cookies, jar) in [([], "jar"), ([""], nil), (["a=1"], nil), ([], nil)] as [([String], String?)] {
      var arguments = RequestArguments()
      arguments.cookies = cookies.map { Argument($0) }
      arguments.cookieJar = jar.map { Argument($0) }
      var notes: [String] = []
      let policy = try CookiePolicy(arguments, first: nil, &notes, knowsPublicSuffixes: knowsPublicSuffixes)
      let keeps = policy != .none
      #expect(keeps == (jar != nil || cookies == [""]))
      #expect(notes.contains { $0.contains("libpsl5") } == (keeps && !knowsPublicSuffixes))
    }
  }

  /// Of several requests at the same time, the one that happened to be sent first got the cookies.
  @Test(
    arguments: [
      ("get --remote-name-all -j 3 http://a.example/x http://b.example/y", "a.example"),
      ("get -H Host:B.example:81 http://[::1]/", "b.example"),
      ("get http://[::1]:8/", "::1"), ("get -O --files-from list", "c.example"), ("get -O --files-from empty", nil),
      ("post -d x http://a.example http://b.example", "a.example"), ("put -T list http://a.example/", "a.example"),
      ("send -j 4 http://a.example list", "a.example"), ("send --put http://a.example/{name} list", "a.example"),
    ] as [(String, String?)])
  func `cookies of files that name no host are for the first URL`(line: String, host: String?) throws {
    let place = try TemporaryDirectory()
    try place.write("list", "http://c.example/1\nhttp://d.example/2\n")
    try place.write("empty", "")
    let words = line.split(separator: " ").map(String.init) + ["-b", "list"]
    let arguments = words.map { Argument(["list", "empty"].contains($0) ? place.path($0) : $0) }
    let session: TransferSession.Configuration? =
      switch try CommandPlan(LowArguments(parsing: arguments)) {
      case .get(let plan): plan.series.session
      case .post(let plan): plan.series.session
      case .send(let plan): plan.batch.session
      default: nil
      }
    let cookies = try #require(session).cookies
    #expect(cookies.files == [place.local("list")])
    #expect(cookies.host == host)
  }
}
