import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamTransfer

/// What a request is to carry.
enum PlannedBody {
  case none
  case form(PlannedForm)
  /// Bytes without a form around them.
  case raw(PlannedBytes)

  var needsTypes: Bool {
    switch self {
    case .none: false
    case .form(let form): form.needsTypes
    case .raw(let bytes): bytes.type == nil
    }
  }
}

/// A body that is no form.
struct PlannedBytes {
  let body: PartBody
  /// Its type; nil where it is to be told.
  let type: MediaType?
  /// What its type is told by, beside its content.
  let filename: String
  /// Where it comes from, in words.
  let origin: String

  /// Its type as that of a form's part would be.
  func type(by guesser: any MediaTypeGuessing) throws(Failure) -> MediaType {
    if let type { return type }
    let form = Form(parts: [Part(name: "", filename: filename, body: body)])
    let layout = try explaining { () throws(MultipartError) in try form.layout(guessing: guesser) }
    return layout.placedPart(at: 0).type ?? .octetStream
  }
}

extension LowArguments {
  func plannedBody() throws(Failure) -> PlannedBody {
    var kinds: [String] = []
    if let part = parts.first { kinds.append(part.spelling) }
    if request.upload != nil { kinds.append("-T") }
    if let piece = request.data.first { kinds.append(piece.spelling) }
    if request.json != nil { kinds.append("--json-body") }
    guard kinds.count < 2 else {
      throw .usage(
        "\(kinds[0]) and \(kinds[1]) make two kinds of body, and a request carries one: leave one out."
      )
    }
    if !parts.isEmpty { return .form(try plannedForm()) }
    if let upload = request.upload { return .raw(try self.upload(upload)) }
    if let json = request.json {
      return .raw(
        try WholeData(json, of: "--json-body").streamed(as: "application/json"))
    }
    if !request.data.isEmpty {
      guard sendsRequest || !request.data.contains(where: \.isStandardInput) else {
        return .raw(TypedData.unread)
      }
      return .raw(try TypedData.body(of: request.data))
    }
    return .none
  }

  /// The name of the file that is the body by itself.
  var uploadedFile: String? {
    guard let upload = request.upload, upload.bytes != Array("-".utf8) else { return nil }
    return upload.path.lastComponent
  }

  private func upload(_ path: Argument) throws(Failure) -> PlannedBytes {
    if path.bytes == Array("-".utf8) {
      return PlannedBytes(
        body: try StandardInput.body(for: "-T"), type: nil, filename: "-",
        origin: "from standard input")
    }
    guard !path.bytes.isEmpty else {
      throw .usage("There is no path behind -T: name a file, or - for standard input.")
    }
    return PlannedBytes(
      body: .file(path.path), type: nil, filename: path.path.lastComponent,
      origin: "from the file \(path.shown)")
  }
}
