import FormStream
import FormStreamTransfer
import Foundation

func authenticate(_ request: TransferRequest) async throws {
  var request = request
  request.credentials = .digest(user: "me", password: "secret")
  var configuration = TransferSession.Configuration()
  let path = NSHomeDirectory() + "/.netrc"
  configuration.netrc = try Netrc(parsing: String(contentsOfFile: path, encoding: .utf8))
  configuration.cookies = .session(file: "cookies.txt")
  let session = try TransferSession(configuration)
  try await session.send(request)
  try session.saveCookies(to: "cookies.txt")
}

func decide(_ refreshed: @escaping @Sendable () async throws -> String) -> Decisions {
  var decisions = Decisions()
  decisions.challenge = { challenge in
    challenge.failureCount < 2 ? .bearer(try await refreshed()) : nil
  }
  decisions.redirect = { redirect in
    redirect.target.origin == redirect.source.origin ? .follow : .keep
  }
  decisions.responseHead = { head in
    let type = head.headers["Content-Type"].flatMap { MediaType($0) }
    return type?.essence == "application/json" ? .memory() : .dropped  // also with a charset
  }
  return decisions
}
