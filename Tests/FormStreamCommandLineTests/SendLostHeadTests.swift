import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// `send --journal` in a directory with a journal whose first line the disk has lost. The journal's name and the records of its files
/// say what run it is of.
@Suite struct SendLostHeadTests {
  private let server: ScriptedServer
  private let other: ScriptedServer
  private let place: TemporaryDirectory

  init() throws {
    server = try ScriptedServer { _ in .good() }
    other = try ScriptedServer { _ in .good() }
    place = try TemporaryDirectory()
    _ = try shell("mkdir in; for n in 1 2; do echo word $n > in/f$n; done", in: place)
  }

  /// Runs a script, in which `S` is a command with a journal, and `lose` damages the first lines of all journals.
  private func night(_ script: String) throws -> Invocation {
    try shell(
      "S() { $F send --retry 0 --journal j \"$@\"; echo $?; }; lose() { sed -i '1s/./x/' ${1:-j}/journal-*; }; \(script)",
      in: place)
  }

  /// Regression: the second run said that nothing was new, and the other server got nothing.
  @Test(arguments: ["", "form?token=secret"])
  func `a run to another URL is refused`(_ path: String) throws {
    let run = try night("S -q \(server.url)/\(path) in; lose; S \(other.url)/\(path) in; S \(server.url)/\(path) in")
    #expect(run.output == "0\n64\n0\n", "\(run.output) \(run.stderr)")
    #expect(run.stderr.contains("belongs to a run to \(server.url)/"), "\(run.stderr)")
    #expect(run.stderr.contains("Nothing is new: 2 files are as earlier runs sent them."), "\(run.stderr)")
    #expect(server.requests.count == 2 && other.requests.isEmpty)
  }

  /// The records have the URLs of the files, which can't be compared with a template, or only the origin of a secret URL. Regression:
  /// a run with another template, or with another secret URL, was believed to have sent the files there.
  @Test(arguments: ["--put 'URL/{name}'", "--put 'URL/other/{name}'", "--url-file url"])
  func `if files may have other URLs, it is not known where they were sent`(_ target: String) throws {
    let first = target.hasPrefix("--put") ? "--put '\(server.url)/{name}'" : "--url-file url"
    let second = target.replacing("URL", with: server.url)
    let run = try night(
      """
      echo \(server.url)/hook > url; chmod 600 url; S -q \(first) in; lose; S -q \(second) in
      """)
    #expect(run.output == "0\n64\n", "\(run.output) \(run.stderr)")
    #expect(
      run.stderr.contains("it is not known where it sent its files, because the first line of \"journal-"), "\(run.stderr)")
    #expect(run.stderr.contains("name another directory"), "\(run.stderr)")
    #expect(server.requests.count == 2)
  }

  /// Regression: the list's run kept no journal, so the next round would have sent its files again.
  @Test func `a list of failed files still finds its journal`() throws {
    let server = try ScriptedServer { request in .good(request.number == 0 ? 403 : 200) }
    let run = try night(
      """
      S -q -j 1 --failed rest \(server.url)/ in; lose
      $F send --retry 0 --manifest rest \(server.url)/; echo $?; S \(server.url)/ in
      """)
    #expect(run.stderr.contains("goes on: the list is of files") && run.stderr.contains("Nothing is new"), "\(run.stderr)")
    #expect(run.output == "1\n0\n0\n" && server.requests.count == 3, "\(run.output) \(run.stderr)")
  }

  /// Regression: the manifest was to be put back beside the journal, and never was there.
  @Test func `a manifest that was named is to be named again`() throws {
    let run = try night(
      """
      mkdir lists; $F plan -o lists/m in 2> said; S -q --manifest lists/m \(server.url)/; lose
      S \(server.url)/ in; $F report j; echo $?; $F report --manifest lists/m j | head -n 1
      """)
    #expect(run.output == "0\n66\n66\n2 files: 2 ok. 14 B accepted.\n", "\(run.output) \(run.stderr)")
    #expect(run.stderr.contains("The first line of the journal \"j/journal-"), "\(run.stderr)")
    #expect(run.stderr.contains("name its path, too, or move the journal"), "\(run.stderr)")
  }

  /// Regression: of two copies of one size, the older one counted, also if it had lost its first line.
  @Test func `a copy that has its first line counts`() throws {
    let run = try night(
      "S -q \(server.url)/ in; cp -pr j k; rm k/manifest*; lose k; touch -d 2001-01-01 k/*; $F report j k; echo $?")
    #expect(run.output == "0\n2 files: 2 ok. 14 B accepted.\n1 journal.\n0\n", "\(run.output) \(run.stderr)")
  }
}
