import FormStreamHTTP
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
      let policy = try CookiePolicy(arguments, &notes, knowsPublicSuffixes: knowsPublicSuffixes)
      let keeps = policy != .none
      #expect(keeps == (jar != nil || cookies == [""]))
      #expect(notes.contains { $0.contains("libpsl5") } == (keeps && !knowsPublicSuffixes))
    }
  }
}
