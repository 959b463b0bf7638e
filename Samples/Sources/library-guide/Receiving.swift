import FormStreamReceiver

func receive() async throws {
  var configuration = Receiver.Configuration()
  configuration.port = 8080
  configuration.limits.body = 10 << 30
  let handler = try DirectoryHandler("received")
  let receiver = try Receiver.start(configuration, handler: handler) { request in
    for part in request.parts { print(part.filename ?? "", part.size, part.storedAs ?? "") }
  }
  await receiver.wait()  // until stop() is called and uploads in progress have ended
}
