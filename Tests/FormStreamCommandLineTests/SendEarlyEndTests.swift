import Foundation
import FormStreamTestSupport
import Testing

/// Runs of `send` that end before all files are begun, because the other files would fail as well.
@Suite(.timeLimit(.minutes(5))) struct SendEarlyEndTests {
  private static func makeFiles() throws -> TemporaryDirectory {
    let place = try TemporaryDirectory()
    for number in 1...100 { try place.write("f\(number)", "x") }
    return place
  }

  /// Regression: a wrong token in a header made an attempt for each of 3,000 files.
  @Test(arguments: [401, 403])
  func `a server that refuses the first requests gets no more`(status: Int) throws {
    let server = try ScriptedServer { _ in .good(status) }
    let place = try Self.makeFiles()
    let result = try formstream(
      "send", "-j", "2", "-H", "X-Api-Token: wrong", "--failed", "rest", server.url, ".", in: place)
    #expect(result.exit == 1)
    #expect(
      result.stderr.contains(
        "The server refused the first requests with \(status), so the run was ended: check the credentials"))
    #expect((4...6).contains(server.requests.count), "\(server.requests.count)")
    // Each message names a file, and says the same.
    let said = result.stderr.split(separator: "\n").count { $0.contains(": failed: The server at") }
    #expect(said == 1 && result.stderr.contains("refused in the same way."), "\(result.stderr)")
    // Files that were not listed yet are not in the list.
    let listed = try String(contentsOfFile: place.path("rest"), encoding: .utf8).split(separator: "\n").count - 1
    let again = try ScriptedServer { _ in .good() }
    #expect(try formstream("send", again.url, "--manifest", "rest", in: place).exit == 0)
    #expect(listed >= 4 && Set(again.sentFiles).count == listed)
  }

  /// Regression: "330 files" of a folder of 10,000, because no more were listed.
  @Test func `a run that ends itself does not say how many files there are`() throws {
    let server = try ScriptedServer { _ in .good(401) }
    let place = try Self.makeFiles()
    // The list does not end before the run does.
    let result = try shell(
      "{ ls f*; for n in $(seq 300); do grep -qs 'was ended' messages && break; sleep 0.1; done; } | $F send -j 2 -H 'X-Api-Token: wrong' --files-from - \(server.url) 2> messages; cat messages",
      in: place)
    #expect(result.output.contains(/failed, \d+ not begun, of at least \d+ listed\./), "\(result.output)")
  }

  @Test func `files that are refused one by one are named one by one`() throws {
    let server = try ScriptedServer { request in .good(request.number == 0 ? 200 : 403) }
    let place = try TemporaryDirectory()
    for number in 1...9 { try place.write("f\(number)", "x") }
    let result = try formstream("send", "-j", "1", server.url, ".", in: place)
    let said = result.stderr.split(separator: "\n").count { $0.contains(": failed: The server at") }
    #expect(said == 8 && !result.stderr.contains("in the same way"), "\(result.stderr)")
  }

  /// The messages name the URL of each file, and what the server says has the number of the request.
  @Test func `refusals of one kind are one message, whatever their texts are`() throws {
    let server = try ScriptedServer { .good(401, body: "Request \($0.number) has no token.") }
    let place = try Self.makeFiles()
    let result = try formstream("send", "-j", "2", "-H", "X-Api-Token: wrong", "--put", "\(server.url)/{name}", ".", in: place)
    let said = result.stderr.split(separator: "\n").count { $0.contains("has no token.") && $0.contains(": failed: ") }
    #expect(result.exit == 1 && said == 1 && result.stderr.contains("refused in the same way."), "\(result.stderr)")
  }

  @Test func `refusals of two kinds are not taken for one`() throws {
    let server = try ScriptedServer { .good($0.number % 2 == 0 ? 401 : 403) }
    let place = try Self.makeFiles()
    let result = try formstream("send", "-j", "1", "-H", "X-Api-Token: wrong", server.url, ".", in: place)
    let said = result.stderr.split(separator: "\n").count { $0.contains(": failed: The server at") }
    #expect(
      result.exit == 1 && said == server.requests.count && !result.stderr.contains("in the same way"), "\(result.stderr)")
  }

  @Test func `files that are refused one by one don't end the run`() throws {
    let server = try ScriptedServer { request in .good(request.number % 10 == 3 ? 200 : 403) }
    let result = try formstream("send", "--json", "-j", "1", server.url, ".", in: try Self.makeFiles())
    #expect(result.exit == 1)
    #expect(server.requests.count == 100)
  }

  @Test func `the run ends after as many failures as the flag says`() throws {
    let server = try ScriptedServer { request in .good(request.number % 2 == 0 ? 404 : 200) }
    let result = try formstream(
      "send", "-j", "1", "--max-failures", "3", "--failed", "rest", server.url, ".", in: try Self.makeFiles())
    #expect(result.exit == 1)
    #expect(
      result.stderr.contains("3 files were not accepted, so the run was ended, as --max-failures says."),
      "\(result.stderr)")
    #expect(server.requests.count == 5)
  }

  @Test func `files that may be forbidden one by one don't end a run by PUT, or with a number of failures`() throws {
    let server = try ScriptedServer { _ in .good(403) }
    let place = try Self.makeFiles()
    let put = try formstream("send", "--json", "-j", "2", "--put", server.url + "/{name}", ".", in: place)
    #expect(put.exit == 1 && server.requests.count == 100)
    let limited = try formstream(
      "send", "--json", "-j", "2", "--max-failures", "500", server.url, ".", in: place)
    #expect(limited.exit == 1 && server.requests.count == 200)
  }

  /// Regression: such files came first in each run that went on, and ended it.
  @Test func `a run that goes on is not ended by what an earlier one could not send`() throws {
    let server = try ScriptedServer { request in .good(request.number < 10 ? 200 : 403) }
    let place = try Self.makeFiles()
    let first = try formstream("send", "--json", "-j", "2", "--journal", "j", server.url, ".", in: place)
    #expect(first.exit == 1)
    let before = server.requests.count
    #expect(
      try formstream("send", "--json", "-j", "2", "--journal", "j", server.url, ".", in: place).exit == 1)
    #expect(server.requests.count - before == 90)
  }

  @Test func `a complete run was not ended`() throws {
    let server = try ScriptedServer { _ in .good(404) }
    let place = try TemporaryDirectory()
    for number in 1...3 { try place.write("f\(number)", "x") }
    let result = try formstream("send", "--max-failures", "3", server.url, ".", in: place)
    #expect(result.exit == 1 && !result.stderr.contains("was ended"), "\(result.stderr)")
  }

  @Test func `no failures are no number of failures`() throws {
    let result = try formstream("send", "--max-failures", "0", "http://127.0.0.1:1/", "f", in: try Self.makeFiles())
    #expect(result.exit == 64)
    #expect(result.stderr.contains("0: write a number from 1"), "\(result.stderr)")
  }
}
