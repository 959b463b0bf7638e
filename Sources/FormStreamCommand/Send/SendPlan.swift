import FormStreamBatch
import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamPlatform
import FormStreamHTTP

/// The checked arguments of `send`.
struct SendPlan {
  let sending: SendingPlan
  let sources: [BatchSource]
  let listing: ListingOptions
  /// The manifest that names the files, in place of sources.
  let manifest: LocalPath?
  let shard: Shard?
  /// The directory of the journal; nil if there is none.
  let journal: LocalPath?
  /// Whether files that an earlier run may have sent are left out.
  let skipsDoubtful: Bool
  /// Where the manifest of the files goes that were not accepted.
  let failed: OutputTarget?
  /// Where the cookies go at the end; nil if they are not written.
  let cookieJar: LocalPath?
  let printsRecords: Bool
  let progress: ProgressMode
  let notes: [String]
  let isQuiet: Bool
}

extension LowArguments {
  func sendPlan() throws(Failure) -> SendPlan {
    try checkRequest()
    var notes: [String] = []
    let sending = try sendingPlan(&notes)
    if self.sending.skipsDoubtful, self.sending.journal == nil {
      throw .usage("--skip-unknown is about what a journal says: add --journal DIR.")
    }
    let sources = try fileSources()
    let shard = try manifest.chosenShard(environment: environmentVariable)
    if shard != nil, manifest.manifest == nil {
      throw .usage(
        "--shard is a part of a manifest: add --manifest FILE, which formstream plan makes.")
    }
    let failed = try manifest.failedTarget(besideRecords: printsJSON)
    return SendPlan(
      sending: sending, sources: sources, listing: try ListingOptions(self.listing, manifest),
      manifest: manifest.manifest?.path, shard: shard, journal: self.sending.journal?.path,
      skipsDoubtful: self.sending.skipsDoubtful, failed: failed,
      cookieJar: request.cookieJar?.path, printsRecords: printsJSON, progress: usableProgress,
      notes: notes,
      isQuiet: request.isQuiet)
  }

  /// The words that are files.
  private var namedFiles: [Argument] {
    Array(request.urlFile == nil ? operands.dropFirst() : operands[...])
  }

  /// Where the files come from; nothing if that is a manifest.
  private func fileSources() throws(Failure) -> [BatchSource] {
    let files = namedFiles
    if let dash = files.first(where: \.isDash) {
      throw .usage(
        "\(dash.named("A file")) is -, and send reads only lists from standard input: --files-from -, or ./- for a "
          + "file of that name.")
    }
    if manifest.manifest != nil {
      guard files.isEmpty, pathLists.isEmpty else {
        throw .usage("--manifest names the files: leave out the others, and the lists.")
      }
      return []
    }
    guard !files.isEmpty || !pathLists.isEmpty else {
      throw .usage(
        "Name the files to send after the URL, or a list of them with --files-from, --files-from0 or --manifest."
      )
    }
    return files.map { .path($0.path) } + (try pathLists.sources())
  }

  private func sendingPlan(_ notes: inout [String]) throws(Failure) -> SendingPlan {
    let packing = try sending.packing()
    let form = try PlannedForm(self)
    if let part = parts.flatMap(\.leaves).first(where: \.isStandardInput) {
      throw .usage(
        "Part \"\(part.name)\" is standard input, which can be read once, and send makes many forms: name a file."
      )
    }
    // The file is a part too, so there is a form in any case.
    let body = sending.puts ? PlannedBody.none : .form(form)
    if !sending.puts { notes += self.notes(on: body, for: .send) }
    let urls = sending.puts ? try urlTemplate(notes: &notes) : nil
    var (request, session) =
      if let urls {
        try plannedRequest(.put, to: urls.base, body, &notes)
      } else {
        try plannedRequest(.send, body, &notes)
      }
    request.options = try options(isKeyTaken: true)
    if !sending.puts, packing != .together, request.method.isIdempotent {
      throw .usage(
        "send makes a form of each file, all for one URL, and with -X \(request.method) each would replace the one before: "
          + "leave -X out, or write --put, which sends each file to a URL of its own.")
    }
    let concurrency = packing == .together ? 1 : sending.concurrency
    session.maximumConnectionsPerHost = concurrency
    session.maximumIdleConnections = concurrency
    session.engines = max(1, min(processorCount, concurrency, 64))
    if let rate = request.options.maximumRate {
      request.options.maximumRate = max(1, rate / Int64(concurrency))
    }
    var plan = SendingPlan(
      request: request, session: session, form: form.form, sniffer: MediaTypeSniffer(self))
    plan.wording = \.namingFlags
    plan.isBoundaryGiven = boundary != nil
    plan.verifiesBoundary = verifiesBoundary
    plan.fieldName = try sending.fieldNameTemplate(packing)
    plan.fieldTemplates = try fieldTemplates(packing)
    plan.filename = try sending.filename.map { (text) throws(Failure) in
      try text.template(for: "--filename", of: sending.filenameValues(packing))
    }
    plan.urls = urls
    plan.packing = packing
    plan.sliceSize = sending.sliceSize
    plan.concurrency = concurrency
    plan.requestRate = sending.requestRate
    plan.retry = request.options.retry
    if !self.request.isRetryGiven { plan.retry.attempts = 3 }
    plan.computesDigest = self.request.options.computesDigest
    plan.sendsIdempotencyKeys = try sendsIdempotencyKeys()
    plan.check = try sending.responseCheck(packing)
    return plan
  }

  private func sendsIdempotencyKeys() throws(Failure) -> Bool {
    guard let key = request.idempotencyKey else { return false }
    guard key.text == "auto" else {
      throw .usage(
        "\(key.named("--idempotency-key")) is one key, and send makes many requests: write auto, and each gets its own."
      )
    }
    return true
  }
}
