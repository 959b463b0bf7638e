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

func respond() throws -> some UploadHandler {
  let handler = try DirectoryHandler("received").responding { upload in
    guard upload.parts.contains(where: { $0.name == "title" }) else {
      return try UploadResponse(status: 422, text: "The title is missing.")
    }
    try upload.store()  // now each part has the name that it is stored under
    return try UploadResponse(status: 201, headers: ["Location": "/photos/1"])
  }
  return handler
}
