// The examples of docs/ten-tasks.md, so that they are compiled. A test compares them with the page.

import FormStream
import FormStreamTransfer

struct Order: Encodable {
  let item: String
}

struct Receipt: Decodable {
  let id: String
}

struct Problem: Decodable {
  let title: String
}

struct Person: Encodable {
  let name: String
  let address: [String: String]
  let tags: [String]
}

struct Refused: Error {
  let status: Int
}

struct Row: Sendable {
  let id: Int
  let price: Double
}

func show(_ fraction: Double?) {}

func postForm(_ session: TransferSession, _ url: String) async throws {
  let form = Form(parts: [.text("title", "Sunset"), .file("photo", "sunset.jpg")])
  let response = try await session.post(url, form: form, headers: ["X-Album": "7"])
  print(response.text)
}

func exchangeJSON(_ session: TransferSession, _ url: String, _ order: Order) async throws {
  do {
    print(try await session.post(url, json: order).decoded(as: Receipt.self).id)
  } catch let error as TransferError {
    print(error.decodedError(as: Problem.self)?.title ?? "\(error)")
  }
}

func put(_ session: TransferSession, _ url: String, _ password: String) async throws {
  try await session.put(url, file: "notes.txt", credentials: .basic(user: "me", password: password))
}

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

func postFields(_ session: TransferSession, _ url: String, _ person: Person) async throws {
  try await session.post(url, form: Form(parts: Part.fields(of: person)))
}

func write(_ session: TransferSession, _ url: String, _ rows: [Row]) async throws {
  let body = TransferBody.writing(type: "text/csv") { writer in
    for row in rows { try await writer.write("\(row.id),\(row.price)\n") }
  }
  try await session.post(url, body: body)
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
