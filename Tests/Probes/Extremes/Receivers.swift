import FormStream
import FormStreamReceiver
import FormStreamTransfer

/// The settings of receivers.
func receiverCells() -> [Cell] {
  func limit<Value: Sendable>(
    _ name: String, _ values: [Value],
    _ set: @escaping @Sendable (inout Receiver.Limits, Value) -> Void
  ) -> [Cell] {
    Cell.each("Receiver.Limits.\(name)", values) { value in
      var configuration = Receiver.Configuration()
      set(&configuration.limits, value)
      return try await receive(configuration)
    }
  }
  var cells = limit("body", Extremes.int64s) { $0.body = $1 }
  cells += limit("urlEncodedBody", Extremes.int64s) { $0.urlEncodedBody = $1 }
  cells += limit("head", Extremes.integers) { $0.head = $1 }
  cells += limit("textField", Extremes.integers) { $0.textField = $1 }
  cells += limit("allTextFields", Extremes.integers) { $0.allTextFields = $1 }
  cells += limit("connections", Extremes.integers) { $0.connections = $1 }
  cells += limit("connectionsPerAddress", Extremes.integers) { $0.connectionsPerAddress = $1 }
  cells += limit("allRecords", Extremes.integers) { $0.allRecords = $1 }
  cells += limit("minimumRate", Extremes.integers) { $0.minimumRate = $1 }
  cells += limit("headTime", Extremes.durations) { $0.headTime = $1 }
  cells += limit("idleTime", Extremes.durations) { $0.idleTime = $1 }
  cells += limit("responseTime", Extremes.durations) { $0.responseTime = $1 }
  func uploads<Value: Sendable>(
    _ name: String, _ values: [Value],
    _ set: @escaping @Sendable (inout Receiver.ResumableUploads, Value) -> Void
  ) -> [Cell] {
    Cell.each("Receiver.ResumableUploads.\(name)", values) { value in
      var configuration = Receiver.Configuration()
      var uploads = Receiver.ResumableUploads(in: "/tmp")
      set(&uploads, value)
      configuration.resumableUploads = uploads
      return try await receive(configuration)
    }
  }
  cells += uploads("minimumSize", Extremes.int64s) { $0.minimumSize = $1 }
  cells += uploads("count", Extremes.integers) { $0.count = $1 }
  cells += uploads("store", Extremes.int64s) { $0.store = $1 }
  cells += uploads("age", Extremes.durations) { $0.age = $1 }
  cells += limit("form.boundary", Extremes.integers) { $0.form.boundary = $1 }
  cells += limit("form.headerBlock", Extremes.integers) { $0.form.headerBlock = $1 }
  cells += limit("form.headersPerPart", Extremes.integers) { $0.form.headersPerPart = $1 }
  cells += limit("form.allHeaders", Extremes.int64s) { $0.form.allHeaders = $1 }
  cells += limit("form.parts", Extremes.integers) { $0.form.parts = $1 }
  cells += limit("form.preamble", Extremes.int64s) { $0.form.preamble = $1 }
  cells += limit("form.epilogue", Extremes.int64s) { $0.form.epilogue = $1 }
  cells += limit("form.partBytes", Extremes.int64s) { $0.form.partBytes = $1 }
  cells += limit("form.totalBytes", Extremes.int64s) { $0.form.totalBytes = $1 }
  cells += Cell.each("Receiver.stop(grace:)", Extremes.durations) { grace in
    let receiver = try Receiver.start(handler: DiscardHandler())
    await receiver.stop(grace: grace)
    return "stopped"
  }
  cells += Cell.each("UploadResponse(status:)", Extremes.integers) { status in
    try UploadResponse(status: status).status
  }
  cells += Cell.each("UploadResponse.record(status:)", Extremes.integers) { status in
    try UploadResponse.record(status: status).status
  }
  cells += Cell.each("UploadRefusal(status:)", Extremes.integers) { status in
    UploadRefusal(.refused, status: status, "No.").status
  }
  return cells
}

/// Sends a form, fields and a file to a receiver.
private func receive(_ configuration: Receiver.Configuration) async throws -> String {
  let receiver = try Receiver.start(configuration, handler: DiscardHandler())
  var options = TransferSession.Configuration()
  options.idleLimit = .zero
  let session = try TransferSession(options)
  var ends: [String] = []
  let bodies: [TransferBody] = [
    .form(form()), .urlEncoded([URLEncodedField("a", "b"), URLEncodedField("c", "d")]),
    .bytes([1, 2, 3]),
  ]
  for body in bodies {
    var request = try TransferRequest(.post, receiver.url, body: body)
    request.options.timeLimits.attempt = .seconds(20)
    let result = await session.result(of: request)
    ends.append("\(result.outcome) \(result.status ?? 0)")
  }
  await receiver.stop(grace: .zero)
  return ends.joined(separator: ", ")
}
