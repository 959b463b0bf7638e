import Testing
import FormStreamTestSupport

/// The pages of the manual, tried with the programs that read them.
@Suite struct DocumentTests {
  static let verbs = [
    "post", "put", "get", "send", "plan", "report", "receive", "encode", "parse", "sniff", "bench",
  ]

  @Test(arguments: [""] + verbs)
  func `no program that reads the manual finds an error in a page`(_ verb: String) throws {
    let run = try shell(
      """
      $F \(verb) --generate man > page.1
      groff -man -Tutf8 -ww -z page.1 2>&1
      man --warnings -l page.1 2>&1 > text
      # A date would change with each release, and not with the page.
      mandoc -T lint -W warning page.1 | grep -v 'missing date'
      """)
    #expect(run.output.isEmpty && run.stderr.isEmpty, "\(run.output) \(run.stderr)")
  }

  /// The names of the sections of a page.
  private static func sections(of page: String) -> [String] {
    page.matches(of: /\n\.SH "(?<name>[A-Z ]+)"\n/).map { String($0.name) }
  }

  @Test(arguments: verbs)
  func `the page of a command has the usual sections, and the flags of its help`(
    _ verb: String
  ) throws {
    let page = try formstream(verb, "--generate", "man").output
    let all = [
      "NAME", "SYNOPSIS", "DESCRIPTION", "FLAGS", "EXAMPLES", "EXIT STATUS", "ENVIRONMENT",
      "FILES", "SEE ALSO",
    ]
    let found = Self.sections(of: page)
    #expect(found == all.filter(found.contains))
    #expect(Set(all).subtracting(found).isSubset(of: ["ENVIRONMENT", "FILES"]), "\(found)")
    let listed = page.matches(of: /\n\.TP\n[^\n]*\\fB\\-\\-(?<name>[^\n]*?)\\fR/)
      .map { String($0.name).replacing("\\-", with: "-").replacing("\\&", with: "") }
    #expect(
      Set(listed).subtracting(generalFlags) == (try flags(inHelpOf: verb)), "\(listed.sorted())")
    let pages = Set(Self.verbs.map { "formstream-\($0)" } + ["formstream"])
    let named = page.matches(of: /\\fB(?<name>formstream[a-z\\-]*)\\fR\(1\)/)
      .map { String($0.name).replacing("\\-", with: "-") }
    #expect(Set(named).isSubset(of: pages) && named.contains("formstream"), "\(named)")
  }

  @Test func `the main page names the page of each command, and only the flags of all`() throws {
    let page = try formstream("--generate", "man").output.replacing("\\-", with: "-")
    for verb in Self.verbs { #expect(page.contains("\\fBformstream-\(verb)\\fR(1)"), "\(verb)") }
    for flag in generalFlags { #expect(page.contains("\\fB--\(flag)\\fR"), "\(flag)") }
    #expect(!page.contains("\\fB--form\\fR"))
  }

  /// What the sources ask the environment for, by the name in quotes.
  @Test func `the manual names every environment variable that is read`() throws {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    let page = try formstream("--generate", "man").output
    let run = try shell(
      """
      cd '\(root.joined(separator: "/"))/Sources'
      grep -rhoE '(environmentVariable|environment|value)\\("[A-Za-z_]+"\\)' FormStreamCommand FormStreamHTTP/Session \
        | grep -oE '"[^"]+"' | tr -d '"' | sort -u
      """)
    let names = run.output.split(separator: "\n")
    #expect(names.count >= 7, "\(names)")
    for name in names { #expect(page.contains(name), "\(name)") }
  }

  @Test func `the version is that of the changelog's newest heading and of the manifest for users`()
    throws
  {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
      .joined(separator: "/")
    let changelog = try shell("cat '\(root)/CHANGELOG.md'").output
    let heading = try #require(changelog.firstMatch(of: /\n## (\d+\.\d+\.\d+)/))
    #expect(try formstream("-V").output == "formstream \(heading.1)\n")
    let installing = try shell("cat '\(root)/docs/install.md'").output
    let manifest = try #require(installing.firstMatch(of: /\.package\(url: .*, (from|branch): "(.*)"\)/))
    // Before its first version is tagged, only a branch can be resolved.
    let isReleased = !changelog.contains("## \(heading.1) (unreleased)")
    #expect(isReleased ? manifest.1 == "from" && manifest.2 == heading.1 : manifest.1 == "branch" && manifest.2 == "main")
  }
}
