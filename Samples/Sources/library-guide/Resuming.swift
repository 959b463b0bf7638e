import FormStreamBatch
import FormStreamTransfer
import Foundation

func sendTonight(_ form: Form, to url: String, in session: TransferSession) async throws -> TransferResult {
  var request = try TransferRequest(.post, url, body: .form(form))
  request.options.resumption = .automatic  // or .http, .httpCreatedFirst, .tus
  request.options.resumeFile = "night.resume"
  request.options.retry.attempts = 5
  request.options.retry.patience = .seconds(300)
  let result = await session.result(of: request)
  return result
}

func sendAgain(
  _ request: TransferRequest, after result: TransferResult, in session: TransferSession
) async throws -> TransferResult {
  var (request, result) = (request, result)
  request.options.resuming = result.resumeData  // nil if there is nothing to continue
  result = await session.result(of: request)
  return result
}

func sendLater(
  _ request: TransferRequest, after result: TransferResult, at place: URL, in session: TransferSession
) async throws -> TransferResult {
  var request = request
  if let data = result.resumeData { try JSONEncoder().encode(data).write(to: place) }
  // Later, with the same request:
  request.options.resuming = try JSONDecoder().decode(UploadResumeData.self, from: Data(contentsOf: place))
  return await session.result(of: request)
}

/// A batch goes on in the middle of its files.
func sendFilms(to url: String) async throws -> BatchTotals {
  var batch = try Batch([.path("films")], to: url)
  batch.request.options.resumption = .automatic
  batch.journal = "films.journal"
  return try await batch.start().end()
}
