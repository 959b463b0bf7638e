import FormStreamMultipart
import FormStreamTransfer

extension PostPlan {
  /// What would be sent: the request line, the headers with secrets masked, and the body's outline.
  func outline() throws(Failure) -> String {
    var text = "\(request.method) \(request.url)\n"
    for (name, value) in shownHeaders { text += visible("\(name): \(value)") + "\n" }
    guard let layout = try layout() else { return text + "Content-Length: 0\n" }
    let origins: [String] =
      switch body {
      case .none: []
      case .form(let form): form.origins
      case .raw(let bytes): [bytes.origin]
      }
    return text
      + BodyOutline(of: layout, type: request.headers["Content-Type"], origins: origins).text
  }

  private var shownHeaders: [(name: String, value: String)] {
    var headers: [(name: String, value: String)] = []
    if !request.headers.contains("User-Agent") {
      headers.append(("User-Agent", configuration.userAgent))
    }
    if let credentials = request.credentials ?? request.url.credentials,
      !request.headers.contains("Authorization")
    {
      headers.append(("Authorization", credentials.description))
    }
    if let key = request.options.idempotencyKey {
      headers.append(("Idempotency-Key", key.fieldValue))
    }
    for field in request.headers.fields where !field.name.isSameHeaderName(as: "Content-Type") {
      headers.append((field.name, field.shownValue))
    }
    return headers
  }
}
