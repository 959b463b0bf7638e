import FormStream
import FormStreamTransfer

struct Photo: Decodable {
  let id: String
}

func send(_ form: Form, token: String) async throws -> Photo {
  let session = try TransferSession()
  var request = try TransferRequest(.post, "https://example.org/photos", body: .form(form))
  request.credentials = .bearer(token)
  request.options.retry = RetryPolicy(attempts: 3)

  let response = try await session.send(request)  // or throws why the request was not carried out
  return try response.decoded(as: Photo.self)  // from JSON
}

func watch(_ request: TransferRequest, in session: TransferSession) async {
  let task = session.start(request)  // pause(), resume(), cancel()
  for await progress in task.progress {  // begins with the current state
    print(progress.phase.rawValue, progress.handedOver, progress.total ?? "unknown")
  }
  print(await task.result.outcome)
}
