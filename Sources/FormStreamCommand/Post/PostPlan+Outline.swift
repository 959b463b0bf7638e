import FormStreamMultipart
import FormStreamHTTP

extension PostPlan.Item {
  /// What would be sent: the request line, the headers with secrets masked, and the body's outline.
  ///
  /// - Parameter session: the settings of the session that would send the request.
  func outline(in session: TransferSession.Configuration) throws(Failure) -> String {
    var text = "\(request.method) \(request.url)\n"
    if let target = request.options.requestTarget {
      text = "\(request.method) \(target.hidingURLSecrets), at \(request.url)\n"
    }
    for (name, value) in shownHeaders(session) { text += visible("\(name): \(value)") + "\n" }
    guard let layout = try layout() else {
      return request.method.announcesEmptyBody ? text + "Content-Length: 0\n" : text
    }
    let origins: [String] =
      switch body {
      case .none: []
      case .form(let form): form.origins
      case .raw(let bytes): [bytes.origin]
      }
    let upload = HTTPHeaders.ofUpload(request, layout)
    if let upload {
      text = outline(of: upload, session)
    } else if let offer = HTTPHeaders.ofOffer(request, layout) {
      let isAutomatic = request.options.resumption.isAutomatic
      if isAutomatic, let condition = condition(layout) {
        text = question(session) + condition + "\n"
      } else {
        text =
          (isAutomatic ? question(session) + "Unless the server names a protocol that creates uploads first:\n" : "")
          + text + shown(offer.fields)
      }
    }
    return text
      + BodyOutline(
        of: layout,
        type: request.options.omits("Content-Type") ? "" : upload?.piece["Content-Type"] ?? request.headers["Content-Type"],
        coding: request.options.bodyCoding.name,
        isInChunks: request.options.sendsChunks,
        origins: origins
      ).text
  }

  /// The first request of an upload whose bytes follow in others, and the head of those.
  private func outline(
    of upload: (method: HTTPMethod, first: HTTPHeaders, piece: HTTPHeaders), _ session: TransferSession.Configuration
  ) -> String {
    let own = shownHeaders(session).filter { !$0.name.lowercased().hasPrefix("content-") }
    let isNamed = upload.method != .head
    func lines(_ headers: HTTPHeaders) -> String {
      (own + headers.fields.filter { $0.name != "Content-Type" }.map { (name: $0.name, value: $0.value) })
        .map { visible("\($0.name): \($0.value)") + "\n" }.joined()
    }
    let place = isNamed ? "the URL of the upload, which the server names" : "\(request.url)"
    let size = request.options.resumption.pieceSize.map { ", in pieces of at most \(counted($0, "byte", "bytes"))" } ?? ""
    return "\(upload.method) \(request.url)\n" + lines(upload.first) + (isNamed ? "Content-Length: 0\n" : "") + "\n"
      + "PATCH \(place)\(size)\n" + lines(upload.piece)
  }

  /// What the server must answer to the question, so that the body is sent; nil if the body is sent in any case.
  private func condition(_ body: BodyLayout) -> String? {
    let resumption = request.options.resumption
    if !resumption.metadata.isEmpty {
      return "If the server names tus, the upload is created by it. Otherwise nothing is sent, because only tus tells a server "
        + "metadata (--upload-metadata).\n"
    }
    guard let size = resumption.pieceSize, let length = body.contentLength, length > size else { return nil }
    return
      "If the server names a protocol that creates uploads first, the body is sent by it in pieces. Otherwise nothing is sent, "
      + "because the body is longer than a piece may be (--piece-size \(size)).\n"
  }

  /// The question which protocol for uploads the server knows.
  private func question(_ session: TransferSession.Configuration) -> String {
    let own = shownHeaders(session)
      .filter { !$0.name.lowercased().hasPrefix("content-") && !$0.name.isSameHeaderName(as: "Idempotency-Key") }
    return "OPTIONS \(request.url)\n" + own.map { visible("\($0.name): \($0.value)") + "\n" }.joined()
      + "\n"
  }

  private func shown(_ headers: [HTTPHeaders.Field]) -> String {
    headers.map { visible("\($0.name): \($0.value)") + "\n" }.joined()
  }

  private func shownHeaders(
    _ session: TransferSession.Configuration
  ) -> [(name: String, value: String)] {
    var headers: [(name: String, value: String)] = []
    if !request.headers.contains("User-Agent"), !request.options.omits("User-Agent") {
      headers.append(("User-Agent", session.userAgent))
    }
    if let credentials = request.ownCredentials(session.netrc),
      !request.headers.contains("Authorization")
    {
      let when = credentials.waitsForChallenge ? " (after the server has asked for it)" : ""
      headers.append(("Authorization", credentials.description + when))
    }
    for file in session.cookies.files {
      headers.append(("Cookie", "*** (of the file \(file), if they are for this server)"))
    }
    if let coding = request.options.bodyCoding.name {
      headers.append(("Content-Encoding", coding))
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
