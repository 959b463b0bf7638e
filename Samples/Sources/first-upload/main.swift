import FormStreamTransfer

let form = Form {
  Part.text("title", "Sunset")
  Part.file("photo", "sunset.jpg", type: "image/jpeg")
}
let request = try TransferRequest(.post, "http://127.0.0.1:8080/", body: .form(form))
let result = try await TransferSession().result(of: request) { progress in
  print(progress.fraction ?? 0)  // 1 only after the system accepted the last byte
}
print(result.outcome)  // ok, failed, retryable, unknown, source-changed or cancelled
print(result.response?.text ?? result.error?.description ?? "")
