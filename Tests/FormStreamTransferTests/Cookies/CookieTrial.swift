import FormStream
import FormStreamTestSupport
import FormStreamTransfer
import Foundation
import Testing

@testable import FormStreamHTTP

/// Requests, one after another, and the cookies that their responses set. The trial is run by curl and by a session, each
/// with a server of its own.
struct CookieTrial: Sendable {
  struct Step: Sendable {
    let url: String
    var sets: [String] = []
    /// What an interim response (103) sets.
    var interim: [String] = []
    /// The other headers of the response. A `Location` makes it a redirect, which both clients follow to any server.
    var headers: [(String, String)] = []
    /// Whether a session refuses the response.
    var isRefused = false
  }

  /// The lines of the file that the client begins with.
  var file: [String] = []
  var steps: [Step]
  /// The cookies that each request has itself.
  var own: String?

  struct Result {
    /// The `Cookie` header of each request; nil if it has none.
    var sent: [String?]
    /// The cookies that are saved at the end, sorted.
    var saved: [String]

    /// The cookies of each request, sorted.
    var pairs: [[String]] { sent.map { ($0?.components(separatedBy: "; ") ?? []).sorted() } }
  }

  private func server() throws -> ScriptedServer {
    try ScriptedServer { [steps] request in
      // Whatever the path, a step is known by its query.
      let number = request.target.split(separator: "?").last.flatMap { Int($0) } ?? 0
      let step = steps[number]
      let isRedirect = step.headers.contains { $0.0 == "Location" }
      return (step.interim.isEmpty ? [] : [.informational(103, headers: step.interim.map { ("Set-Cookie", $0) })])
        + .good(isRedirect ? 302 : step.isRefused ? 200 : 204, headers: step.sets.map { ("Set-Cookie", $0) } + step.headers)
    }
  }

  private func urls() -> [String] { steps.enumerated().map { "\($1.url)?\($0)" } }

  private func result(_ server: ScriptedServer, _ jar: String) throws -> Result {
    #expect(server.faults == [])
    let lines = try String(contentsOfFile: jar, encoding: .utf8).split(separator: "\n").map(String.init)
    return Result(
      sent: server.requests.map { $0.header("Cookie") },
      saved: lines.filter { !$0.hasPrefix("# ") }.map(Self.withoutSeconds).sorted())
  }

  /// The date of `Max-Age` depends on when a response arrives.
  private static func withoutSeconds(_ line: String) -> String {
    var fields = line.components(separatedBy: "\t")
    let now = Int(Date().timeIntervalSince1970)
    if fields.count == 7, let expiry = Int(fields[4]), (now...(now + 100_000)).contains(expiry) {
      fields[4] = "soon"
    }
    return fields.joined(separator: "\t")
  }

  func runWithCurl() throws -> Result {
    let (server, place) = (try server(), try TemporaryDirectory())
    try place.write("in", file.map { $0 + "\n" }.joined())
    var lines = ["silent", "show-error", "connect-to = \"::127.0.0.1:\(server.port)\""]
    lines += ["cookie = \"\(place.path("in"))\"", "cookie-jar = \"\(place.path("out"))\""]
    if let own { lines.append("cookie = \"\(own)\"") }
    if steps.contains(where: { $0.headers.contains { $0.0 == "Location" } }) { lines.append("location") }
    try place.write("config", (lines + urls().map { "url = \"\($0)\"" }).joined(separator: "\n"))
    let end = try curl(["-K", place.path("config")])
    #expect(end.exit == 0, "\(end.stderr.suffix(300))")
    return try result(server, place.path("out"))
  }

  func runWithSession() async throws -> Result {
    let (server, place) = (try server(), try TemporaryDirectory())
    try place.write("in", file.map { $0 + "\n" }.joined())
    var configuration = TransferSession.Configuration()
    configuration.replacedHosts = [try #require(HostReplacement("::127.0.0.1:\(server.port)"))]
    let first = try steps.first.map { CookiePlace(try HTTPURL($0.url)) }
    configuration.cookies = .session(file: place.local("in"), host: first.map { String(decoding: $0.host, as: UTF8.self) })
    let session = try TransferSession(configuration)
    for (url, step) in zip(urls(), steps) {
      var request = try TransferRequest(.get, url)
      request.options.redirects.allowsOtherOrigins = true
      if let own { request.headers.append("Cookie", own) }
      let result = await session.result(of: request)
      #expect((result.outcome == .ok) != step.isRefused, "\(url): \(String(describing: result.error))")
    }
    try session.saveCookies(to: place.local("out"))
    return try result(server, place.path("out"))
  }
}
