import FormStream
import Foundation
import FormStreamTransfer

// Posts bodies to a server over kept connections, and prints what the library says about each:
//
//     formstream-peers-probe URL COUNT WORKERS SIZES PAUSE VERSION AUTHORITY
//     NUMBER OUTCOME STATUS BYTES ERROR MESSAGE
//
// VERSION is 1.1, 2, or automatic. Each worker has connections of its own, and waits for up to PAUSE milliseconds before each request. Request N has
// the header `X-Request: N`, and its body is `N` and a newline, repeated up to the size that is its turn.

let arguments = CommandLine.arguments
guard arguments.count == 8, let count = Int(arguments[2]), let workers = Int(arguments[3]),
  let pause = Int(arguments[5])
else {
  FileHandle.standardError.write(
    Data("usage: \(arguments[0]) URL COUNT WORKERS SIZES PAUSE VERSION AUTHORITY\n".utf8))
  exit(64)
}
let url = arguments[1]
let sizes = arguments[4].split(separator: ",").compactMap { Int($0) }
var configuration = TransferSession.Configuration()
switch arguments[6] {
case "1.1": configuration.version = .http11
case "2": configuration.version = .http2
default: break
}
if !arguments[7].isEmpty { configuration.tls.authorities = LocalPath(arguments[7]) }
let shared = configuration

func send(_ number: Int, _ session: TransferSession) async throws -> String {
  let size = sizes[number % sizes.count]
  var bytes = Array("\(number)\n".utf8)
  while bytes.count < size { bytes += bytes }
  bytes.removeLast(bytes.count - size)
  var request = try TransferRequest(.post, url, body: .bytes(bytes))
  request.headers.append("X-Request", "\(number)")
  request.options.expectation = .never
  request.options.timeLimits.attempt = .seconds(30)
  return line(number, await session.result(of: request))
}

/// Not a part of `send`: there, optimized, it makes Swift 6.3.1 fail ("Found ownership error").
func line(_ number: Int, _ result: TransferResult) -> String {
  let status = result.status.map(String.init) ?? "-"
  let error = result.error.map { "\($0.code.rawValue) \($0.description)" } ?? "-"
  return "\(number) \(result.outcome) \(status) \(result.bytesSent) \(error)"
}

try await withThrowingTaskGroup(of: Void.self) { group in
  for worker in 0..<workers {
    group.addTask {
      let session = try TransferSession(shared)
      for number in stride(from: worker, to: count, by: workers) {
        if pause > 0 { try await Task.sleep(for: .microseconds(Int.random(in: 0...pause * 1000))) }
        print(try await send(number, session))
      }
    }
  }
  try await group.waitForAll()
}
