import FormStreamReceiver

func tryUpload(_ upload: (String) async throws -> Void) async throws {
  let requests = AsyncStream.makeStream(of: ReceivedRequest.self)
  let receiver = try Receiver.start(handler: DiscardHandler()) { requests.continuation.yield($0) }
  try await upload(receiver.url + "photos")  // the code under test
  await receiver.stop()
  requests.continuation.finish()
  for await request in requests.stream { print(request.method, request.target, request.parts.count) }
}
