import FormStream
import FormStreamTransfer
import Foundation

func readAsItArrives(_ request: TransferRequest, in session: TransferSession) async throws {
  let response = try await session.open(request)
  guard response.isAccepted else { return print(try await response.text()) }
  for try await line in response.body.lines { print(line) }  // the body itself is in chunks
  print(await response.result.outcome)
}

func readParts(_ request: TransferRequest, in session: TransferSession) async throws {
  for try await part in try await session.open(request).accepted().parts {
    let type = part.head.contentType.flatMap { MediaType($0) }
    if type?.essence == "application/json" { print(try await part.text()) } else { try await part.store(at: "picture") }
  }
}

func decide(_ results: [TransferResult], report: (TransferResult) -> Void) -> (later: [HTTPURL], doubtful: [HTTPURL]) {
  var (later, doubtful, changed): ([HTTPURL], [HTTPURL], [HTTPURL]) = ([], [], [])
  for result in results {
    switch result.outcome {
    case .ok: break
    case .failed: report(result)
    case .retryable: later.append(result.url)
    case .unknown: doubtful.append(result.url)  // ask the server before sending it again
    case .sourceChanged: changed.append(result.url)
    case .cancelled: break
    }
  }
  return (later + changed, doubtful)
}
