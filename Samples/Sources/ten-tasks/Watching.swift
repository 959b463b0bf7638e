import FormStream
import FormStreamTransfer

struct Refused: Error {
  let status: Int
}

func show(_ fraction: Double?) {}

func upload(_ session: TransferSession, _ url: String, _ form: Form) async throws {
  try await session.post(url, form: form) { show($0.fraction) }
}

func download(_ session: TransferSession, _ url: String) async throws {
  try await session.download(url, to: "film.mp4") { show($0.responseFraction) }
}

func readLines(_ session: TransferSession, _ url: String) async throws {
  let response = try await session.open(TransferRequest(.get, url))
  guard response.status == 200 else { throw Refused(status: response.status) }
  for try await line in response.body.lines { print(line) }
}

func sendMany(_ url: String, _ files: [String]) async throws {
  var configuration = TransferSession.Configuration()
  configuration.maximumConnectionsPerHost = 8
  let session = try TransferSession(configuration)
  let requests = try files.map { try TransferRequest(.put, url + $0, body: .file($0)) }
  for await (i, result) in session.results(of: requests, limit: 8) { print(files[i], result.outcome) }
}

func cancel(_ session: TransferSession, _ request: TransferRequest) async {
  let task = session.start(request)
  task.cancel()
  switch await task.result.outcome {
  case .ok: print("The server accepted it before it was cancelled.")
  case .cancelled, .sourceChanged: print("The server did nothing.")
  case .failed, .retryable: print("It was refused, or the server could not be reached.")
  case .unknown: print("The server may have accepted it: ask it.")
  }
}
