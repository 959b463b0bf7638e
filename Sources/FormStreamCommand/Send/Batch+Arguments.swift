import FormStreamBatch
import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamHTTP

extension Batch {
  init(
    _ arguments: LowArguments, _ input: InputReader, _ notes: inout [String]
  ) throws(Failure) {
    let (typed, sending) = (arguments.request, arguments.sending)
    let packing = try sending.packing()
    let form = try PlannedForm(arguments.form)
    if let part = arguments.form.parts.flatMap(\.leaves).first(where: \.isStandardInput) {
      throw .usage(
        "Part \"\(part.name)\" is standard input, which can be read once, and send makes many forms: name a file."
      )
    }
    // The file is a part too, so there is always a form.
    let body = sending.puts ? PlannedBody.none : .form(form)
    if !sending.puts { notes += body.notes(arguments.form, typed, for: .send) }
    let urls =
      sending.puts
      ? try URLTemplate(arguments.operands, typed, sending, arguments.form, input, &notes) : nil
    let url =
      if let urls { urls.base } else { try Self.url(arguments.operands, typed, input, &notes) }
    let planned = try PlannedRequest(
      sending.puts ? .put : .post, to: url, with: body, typed, arguments.downloading, input,
      &notes)
    var request = planned.request
    request.options = try TransferOptions(typed, hasKey: false)
    if !sending.puts, packing != .together, request.method.isIdempotent {
      throw .usage(
        "send makes a form of each file, all for one URL, and with -X \(request.method) each would replace the one before: "
          + "leave -X out, or write --put, which sends each file to a URL of its own.")
    }
    self.init(request: request, sniffer: MediaTypeSniffer(arguments.types))
    (self.session, self.form) = (planned.session, form.form)
    // `send` keeps the state of uploads in its journal.
    settingName = { ($0 as? SettingName) == .resumeFile ? "--journal" : flagName(of: $0) }
    isBoundaryGiven = arguments.form.boundary != nil
    verifiesBoundary = form.verifiesBoundary
    fieldName = try sending.fieldNameTemplate(packing)
    fieldTemplates = try sending.fieldTemplates(of: arguments.form.parts, packing)
    filename = try sending.filename.map { (text) throws(Failure) in
      try text.template(for: "--filename", of: sending.filenameValues(packing))
    }
    if sending.makesCollections, !sending.puts {
      throw .usage("--make-collections is about the folders of files that are sent by --put: add --put, or leave it out.")
    }
    self.urls = urls
    makesCollections = sending.makesCollections
    self.packing = packing
    sliceSize = sending.sliceSize
    concurrency = sending.concurrency
    requestRate = sending.requestRate
    ratePeriods = sending.ratePeriods
    maximumFailures = sending.maximumFailures
    retry = request.options.retry
    if !typed.isRetryGiven, !request.options.resumption.isChosen { retry.attempts = 3 }
    computesDigest = typed.options.computesDigest
    sendsIdempotencyKeys = try Self.sendsKeys(typed.idempotencyKey)
    check = try sending.responseCheck(packing)
    keptValue = try sending.mappedPath(packing)
  }

  private static func sendsKeys(_ key: Argument?) throws(Failure) -> Bool {
    guard let key else { return false }
    guard key.text == "auto" else {
      throw .usage(
        "\(key.named("--idempotency-key")) is one key, and send makes many requests: write auto, and each gets its own."
      )
    }
    return true
  }

  /// The URL that all forms are sent to.
  private static func url(
    _ operands: [Argument], _ request: RequestArguments, _ input: InputReader,
    _ notes: inout [String]
  ) throws(Failure) -> HTTPURL {
    if request.urlFile == nil { try operands.checkURLIsFirst() }
    let url = try URLArgument(
      operands.first, orIn: request.urlFile, for: .send, input, &notes)
    return try [HTTPURL]([url], request, input)[0]
  }
}

extension SendingArguments {
  /// The templates of text fields, by the indices of their parts. A template may contain values of the file, such as
  /// `{stem}`.
  fileprivate func fieldTemplates(
    of parts: [PartArguments], _ packing: Packing
  ) throws(Failure) -> [Int: FileTemplate] {
    let remedy =
      packing.isShared
      ? "A request has several files, and --filename can have values of each" : "--field is literal"
    var templates: [Int: FileTemplate] = [:]
    for (index, part) in parts.enumerated() where part.spelling != "--field" {
      guard case .value(let value) = part.content else { continue }
      templates[index] = try value.template(
        for: part.spelling, of: fieldValues(packing), remedy: remedy)
    }
    return templates
  }
}

extension URLTemplate {
  /// The URLs of `send --put`.
  fileprivate init(
    _ operands: [Argument], _ request: RequestArguments, _ sending: SendingArguments,
    _ form: FormArguments, _ input: InputReader, _ notes: inout [String]
  ) throws(Failure) {
    if let part = form.parts.first {
      throw .usage(
        "\(part.spelling) makes a part of a form, and --put sends files as they are: leave one out."
      )
    }
    if sending.fieldName != nil || sending.filename != nil {
      throw .usage(
        "--as and --filename are for forms, and --put sends files as they are: leave them out.")
    }
    let text: String
    if let file = request.urlFile {
      let secrets = try input.secretFile(file, for: "--url-file", &notes)
      text = String(decoding: try secrets.onlyLine(), as: UTF8.self)
    } else if let operand = operands.first {
      guard !operand.bytes.isEmpty else { throw URLArgument.empty }
      try operands.checkURLIsFirst()
      text = try operand.text(for: "the URL")
    } else {
      throw .usage(
        "Name the URL to put files to: formstream send --put https://example.org/path/ FILE...")
    }
    let query = try [URLEncodedField](request.query)
    self = try convertingErrors { () throws(BatchError) in
      try URLTemplate(text, query: query, isSecret: request.urlFile != nil)
    }
    try base.checkLeftOut(request)
  }
}

extension [Argument] {
  /// Fails if these words of `send` begin with a file: the URL comes first, and all other words are files.
  fileprivate func checkURLIsFirst() throws(Failure) {
    guard let first, !first.bytes.isEmpty, !URLArgument.isURL(first),
      exists(first.path) || dropFirst().contains(where: URLArgument.isURL)
    else { return }
    throw .usage(
      "\(first.named("A word")) is no URL, and send takes the URL first: formstream send [FLAG]... https://example.org/ FILE..."
    )
  }
}

extension Argument {
  /// The argument as a template.
  func template(
    for flag: String, of values: [FileTemplate.Value], remedy: String? = nil
  ) throws(Failure) -> FileTemplate {
    do throws(BatchError) {
      return try FileTemplate(bytes, of: values)
    } catch {
      throw .usage(
        "\(named(flag)): \(error.description)" + (remedy.map { " (\($0).)" } ?? ""))
    }
  }
}
