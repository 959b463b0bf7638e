import FormStream
import FormStreamTransfer
import Foundation

func makeSession(trusting known: [UInt8]) throws -> TransferSession {
  var configuration = TransferSession.Configuration()
  configuration.tls.authorities = "authority.pem"  // in place of the system's; or LocalPath(text)
  configuration.proxy = try .proxy("socks5h://proxy.example:1080", except: "localhost")
  configuration.serverTrust = { trust in  // in place of the platform's check
    trust.isVerified || trust.certificates.first == known ? .trust : .refuse
  }
  let session = try TransferSession(configuration)
  return session
}

func sendAll(_ files: [String], to target: String, in session: TransferSession) async throws {
  let url = try HTTPURL(target)
  let requests = files.lazy.map { TransferRequest(.put, url, query: ["name": $0], body: .file($0)) }
  for await (index, result) in session.results(of: requests, limit: 8) {
    print(files[index], result.outcome)
  }
}
