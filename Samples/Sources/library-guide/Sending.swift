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

func watch(_ request: TransferRequest, in session: TransferSession) async {
  let task = session.start(request)  // pause(), resume(), cancel(); id, request, state
  for await progress in task.progress {  // begins with the current state
    print(progress.phase.rawValue, progress.handedOver, progress.total ?? "unknown")
  }
  print(await task.result.outcome)
}

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

func readAsItArrives(_ request: TransferRequest, in session: TransferSession) async throws {
  let response = try await session.open(request)
  guard response.isAccepted else { return print(try await response.text()) }
  for try await line in response.body.lines { print(line) }  // the body itself is in chunks
  print(await response.result.outcome)
}

func makeBody(chunks: AsyncStream<[UInt8]>) -> TransferBody {
  let body = TransferBody.part(.asyncChunks(chunks), type: "video/mp4")
  return body
}

func relay(from source: String, to target: String, in session: TransferSession) async throws {
  let body = TransferBody.writing { writer in
    let response = try await session.open(TransferRequest(.get, source)).accepted()
    for try await chunk in response.body { try await writer.write(chunk) }
  }
  try await session.put(target, body: body)
}

func sendAll(_ files: [String], to target: String, in session: TransferSession) async throws {
  let url = try HTTPURL(target)
  let requests = files.lazy.map { TransferRequest(.put, url, query: ["name": $0], body: .file($0)) }
  for await (index, result) in session.results(of: requests, limit: 8) {
    print(files[index], result.outcome)
  }
}

func remove(_ url: String, in session: TransferSession) async throws -> Photo? {
  let photo = try await session.delete(url).decoded(as: Photo?.self)  // nil without a body
  return photo
}

func makeBody(rows: AsyncStream<String>) -> TransferBody {
  let body = TransferBody.writing(type: "text/csv") { writer in
    for await row in rows { try await writer.write("\(row)\n") }  // waits for the network
  }
  return body
}
