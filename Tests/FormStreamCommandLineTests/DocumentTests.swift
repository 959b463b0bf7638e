import Testing
import FormStreamTestSupport

/// The man page and the completions, tried with the programs that read them.
@Suite struct DocumentTests {
  @Test func `the man page names every flag and has no errors`() throws {
    let run = try shell(
      """
      $F --generate man > page.1
      groff -man -Tutf8 -ww -z page.1 2>&1
      groff -man -Tutf8 -P-cbou page.1
      """)
    #expect(!run.output.contains("warning") && !run.output.contains("error:"), "\(run.output)")
    for flag in ["-F, --form NAME=CONTENT", "--part-header", "--verify-boundary", "-V, --version"] {
      #expect(run.output.contains(flag), "\(flag)")
    }
    #expect(run.output.contains(#"with \" and \\ for a quote and a backslash"#.prefix(20)))
  }

  @Test func `bash completes flags, choices, verbs and paths`() throws {
    let run = try shell(
      """
      source <($F --generate bash)
      compopt() { COMPREPLY=(paths); }
      complete_line() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _formstream 2> /dev/null; echo "${COMPREPLY[*]}"; }
      complete_line formstream en
      complete_line formstream encode --br
      complete_line formstream encode --escaping b
      complete_line formstream encode --field x
      complete_line formstream encode --escaping = ba
      complete_line formstream encode --file photo = sun
      touch sunset.jpg
      complete_line formstream encode -F photo =@ sun
      complete_line formstream encode -F photo =@
      complete_line formstream encode -F photo '=<' sun
      complete_line formstream encode -F photo = sun
      complete_line formstream encode --output = s
      complete_line formstream parse bo
      complete -p formstream
      """)
    #expect(
      run.output
        == "encode\n--browser-text\nbrowser backslash\n\nbackslash\npaths\n@sunset.jpg\n@sunset.jpg\npaths\n\npaths\npaths\ncomplete -F _formstream formstream\n"
    )
  }

  @Test func `zsh loads its completions`() throws {
    let run = try shell(
      """
      $F --generate zsh > _formstream && zsh -n _formstream || exit 1
      zsh -fc 'fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -d dump; print $_comps[formstream]'
      """)
    #expect(run.exit == 0, "\(run.stderr)")
    #expect(run.output == "_formstream\n", "\(run.stderr)")
  }

  @Test func `fish completes flags and choices`() throws {
    let run = try shell(
      """
      export HOME=$PWD
      $F --generate fish > f.fish && fish --no-execute f.fish || exit 1
      fish -c 'source f.fish; complete -C "formstream encode --escaping ba"; complete -C "formstream encode --brow"'
      touch body.bin; fish -c 'source f.fish; complete -C "formstream parse bod"'
      """)
    #expect(run.exit == 0, "\(run.stderr)")
    #expect(run.output.contains("backslash"), "\(run.output)")
    #expect(run.output.contains("--browser-text\tMake lone CR"), "\(run.output)")
    #expect(run.output.hasSuffix("body.bin\n"), "\(run.output)")
  }

  @Test func `the version is that of the changelog's newest heading`() throws {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    let changelog = try shell("cat '\(root.joined(separator: "/"))/CHANGELOG.md'").output
    let heading = try #require(changelog.firstMatch(of: /\n## (\d+\.\d+\.\d+)/))
    #expect(try formstream("-V").output == "formstream \(heading.1)\n")
  }
}
