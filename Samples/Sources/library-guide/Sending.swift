import FormStream
import FormStreamTransfer
import Foundation

struct Photo: Decodable {
  let id: String
}

struct Problem: Decodable {
  let title: String
}

func send(_ form: Form, token: String) async throws -> Photo {
  let session = try TransferSession()
  let response = try await session.post(
    "https://example.org/photos", form: form, headers: ["X-Album": "7"],
    credentials: .bearer(token)
  ) { progress in print(progress.fraction ?? 0) }
  let photo = try response.decoded(as: Photo.self)
  return photo
}

func sendRequest(_ form: Form, token: String, in session: TransferSession) async throws -> String {
  var request = try TransferRequest(.post, "https://example.org/photos", body: .form(form))
  request.credentials = .bearer(token)
  request.headers["X-Album"] = "7"
  request.options.retry = RetryPolicy(attempts: 3)
  let response = try await session.send(request)
  return response.text
}

func explain(_ request: TransferRequest, in session: TransferSession) async throws {
  do {
    try await session.send(request)
  } catch let error as TransferError {
    if error.outcome == .unknown { print("The server may have carried it out: ask it.") }
    print(error.decodedError(as: Problem.self)?.title ?? error.description)
  } catch is CancellationError {
    print("The task was cancelled.")
  }
}

func remove(_ url: String, in session: TransferSession) async throws -> Photo? {
  let photo = try await session.delete(url).decoded(as: Photo?.self)  // nil without a body
  return photo
}
