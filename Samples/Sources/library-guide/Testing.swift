import FormStreamReceiver
import FormStreamTransfer

/// The code under test gets its session from outside.
func tryWithoutServer(_ upload: (TransferSession) async throws -> Void) async throws {
  let session = try TransferSession { request in
    let form = try await request.form()
    guard form["photo"] != nil else { return .status(400) }
    return .json(#"{"id": 7}"#, status: 201)
  }
  try await upload(session)  // the code under test
  for request in session.answeredRequests { print(request.number, request.method, request.url) }
}

func tryUpload(_ upload: (String) async throws -> Void) async throws {
  let requests = AsyncStream.makeStream(of: ReceivedRequest.self)
  let receiver = try Receiver.start(handler: DiscardHandler()) { requests.continuation.yield($0) }
  try await upload(receiver.url + "photos")  // the code under test
  await receiver.stop()
  requests.continuation.finish()
  for await request in requests.stream { print(request.method, request.target, request.parts.count) }
}

func startFixture() throws -> Receiver {
  var fixture = Receiver.Configuration()
  fixture.respondToGet = { request in
    guard request.path == "/photos/7" else { return nil }
    return try UploadResponse(status: 200, type: "application/json", text: #"{"id": 7}"#)
  }
  let receiver = try Receiver.start(fixture, handler: DiscardHandler())
  return receiver
}
