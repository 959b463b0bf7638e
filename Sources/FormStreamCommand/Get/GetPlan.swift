import FormStreamDigest
import FormStreamIntake
import FormStreamMultipart
import FormStreamPlatform
import FormStreamHTTP

/// The checked arguments of `get`.
struct GetPlan {
  /// What becomes of one URL.
  struct Item {
    /// Which request of the command it is, from 0.
    let number: Int
    let request: TransferRequest
    let destination: Destination
    let expectedDigest: SHA256Digest?
  }

  /// Where a response goes.
  enum Destination {
    /// Standard output, or the record of `--json`.
    case output
    /// A file that a flag or the URL names.
    case file(LocalPath)
    /// A file in a directory that the URL names, or the server.
    case directory(LocalPath, DownloadDestination.NameSource)
  }

  let items: [Item]
  let configuration: TransferSession.Configuration
  /// Where the cookies are saved at the end; nil for nowhere.
  let cookieJar: LocalPath?
  let range: RequestedRange?
  /// The flag that chooses the range.
  let rangeFlag: String
  /// What `-z` wants of bodies; nil for everything.
  let condition: ModificationCondition?
  /// Whether no file is replaced.
  let keepsExisting: Bool
  /// Whether what has arrived of a file is removed if the download fails.
  let removesOnError: Bool
  let resumes: Bool
  let makesDirectories: Bool
  let printsRecord: Bool
  /// Whether a file gets the response of a refused request, too.
  let outputsAnyStatus: Bool
  /// Whether `--expect-status` says what is a success.
  let choosesStatuses: Bool
  let printing: PlannedPrinting
  /// How many bytes of the response's body the record holds.
  let responseLimit: Int
  /// Messages that are printed before the work starts.
  let notes: [String]
  let isQuiet: Bool
  let progress: ProgressMode
}

extension LowArguments {
  func getPlan() throws(Failure) -> GetPlan {
    try checkRequest()
    try checkDownload()
    var notes = self.notes(on: .none, for: .get)
    let sources = try downloadSources(&notes)
    let digests = downloading.digests
    guard digests.isEmpty || digests.count == sources.count else {
      throw .usage(
        "--sha256 is given \(digests.count == 1 ? "once" : "\(digests.count) times"), and there are \(sources.count) URLs: give it for each, in their order."
      )
    }
    // With the query, so that the record shows it too.
    let resolved = try resolved(sources.map(\.url))
    var (planned, configuration) = try plannedRequest(
      request.asksForHead ? .head : .get, to: resolved[0], .none, &notes)
    planned.options = try getOptions()
    if let stated = try request.headers.statedLength(), stated > 0 {
      throw .usage(
        "-H states a Content-Length of \(stated), and get sends no body: leave the header out.")
    }
    let condition = try condition()
    if let header = condition?.header {
      guard !planned.headers.contains(header.name) else {
        throw .usage("-z and -H both set \(header.name): leave one out.")
      }
      planned.headers.append(header.name, header.value)
    }
    // As in curl, the heads of HEAD are printed in any case.
    let bodyCondition = planned.method == .head ? nil : condition
    let leavesOutRedirect = leavesOutRedirects(except: [])
    planned.options.leavesOutBody = { response in
      bodyCondition?.excludes(response) == true || leavesOutRedirect?(response) == true
    }
    if let range = downloading.range {
      guard !planned.headers.contains("Range") else {
        throw .usage("\(downloading.rangeFlag) and -H both set the range: leave one out.")
      }
      planned.headers.append("Range", range.header)
    }
    // The session's own limit is for many requests; here --retry sets the limit.
    configuration.retryBudget = max(
      configuration.retryBudget, planned.options.retry.attempts - 1,
      TransferOptions.download.retry.attempts - 1)
    var items: [GetPlan.Item] = []
    for (index, url) in resolved.enumerated() {
      var request = request(like: planned, to: url, configuration, &notes)
      let destination = try destination(sources[index].output, of: url)
      request.options.refusesUnaskedRange = request.method != .head
      request.options.acceptedStatuses = acceptedStatuses(
        for: destination, request, planned.options)
      // A file may be requested again: nothing of it is shown before it is complete.
      if !self.request.isRetryGiven, destination.isFile, [.get, .head].contains(request.method) {
        request.options.retry.attempts = TransferOptions.download.retry.attempts
      }
      if downloading.range?.isSeveral == true, destination.isFile {
        throw .usage(
          "\(downloading.rangeFlag) asks for several ranges, which come as parts of one response: they are printed on standard output. For a file, ask for one range."
        )
      }
      items.append(
        GetPlan.Item(
          number: index, request: request, destination: destination,
          expectedDigest: digests.isEmpty ? nil : digests[index]))
    }
    let printing = try PlannedPrinting(self)
    try checkFiles(items, sources)
    return GetPlan(
      items: items, configuration: configuration, cookieJar: self.request.cookieJar?.path,
      range: downloading.range, rangeFlag: downloading.rangeFlag, condition: bodyCondition,
      keepsExisting: downloading.keepsExisting, removesOnError: downloading.removesOnError,
      resumes: downloading.resumes, makesDirectories: downloading.makesDirectories,
      printsRecord: printsJSON, outputsAnyStatus: request.outputsAnyStatus,
      choosesStatuses: request.options.acceptedStatuses != nil, printing: printing,
      responseLimit: request.responseLimit ?? 1024 * 1024, notes: notes, isQuiet: request.isQuiet,
      progress: request.progress)
  }

  private func checkDownload() throws(Failure) {
    try checkMethod(.none)
    if !request.putsDataIntoURL, let piece = request.data.first {
      throw .usage(
        "\(piece.flag) is for a body, and get sends none: -G puts the data into the URL; formstream post sends it, with -X GET as well."
      )
    }
    if downloading.resumes, isOtherThanFile {
      throw .usage(
        "-C - goes on with a file, and can't be used with -i, -I and -X: leave them out.")
    }
    let isCompressed = request.options.responseCompression != nil
    if let directory = downloading.directory {
      guard !directory.bytes.isEmpty, !directory.bytes.contains(0) else {
        throw .usage("--output-dir needs the name of a directory; . is the current one.")
      }
    }
    if downloading.resumes, downloading.removesOnError {
      throw .usage(
        "-C - goes on with what a download has left, and --remove-on-error leaves nothing: leave one out."
      )
    }
    if downloading.firstByte != nil || downloading.resumes, downloading.givenRange != nil {
      throw .usage("-C and --range both choose what is received: leave one out.")
    }
    if isCompressed, downloading.resumes || downloading.range != nil {
      throw .usage(
        "--compressed can't be used with \(downloading.resumes ? "-C" : "--range"): what follows in the middle of a compressed file can't be decompressed."
      )
    }
    if downloading.resumes, request.outputsAnyStatus {
      throw .usage("-C and --output-any-status exclude each other: only a success is continued.")
    }
    if downloading.usesServerNames,
      isCompressed || downloading.range != nil || request.outputsAnyStatus || isOtherThanFile
    {
      throw .usage(
        "-J names complete files as they are on the server: with --compressed, --range, --output-any-status, -i, -I and -X, name the file with -o."
      )
    }
  }

  private func getOptions() throws(Failure) -> TransferOptions {
    var options = try options()
    if let limit = options.maximumResponseSize { options.responseCompression?.limit = limit }
    return options
  }

  /// The statuses that are a success.
  private func acceptedStatuses(
    for destination: GetPlan.Destination, _ request: TransferRequest, _ options: TransferOptions
  ) -> Set<Int> {
    let statuses = acceptedStatuses(for: destination, request.method, options)
    // Who asks for what has changed is answered by "nothing".
    let isConditional = ["If-Modified-Since", "If-None-Match"].contains(
      where: request.headers.contains)
    return isConditional && options.acceptedStatuses == nil ? statuses.union([304]) : statuses
  }

  private func acceptedStatuses(
    for destination: GetPlan.Destination, _ method: HTTPMethod, _ options: TransferOptions
  ) -> Set<Int> {
    // RFC 9110 §14.2: "A server MAY ignore the Range header field", and then sends all with 200.
    // "A server MUST ignore a Range header field received with a request method […] for which range handling is not
    // defined", as for HEAD.
    if downloading.range != nil, method != .head { return options.acceptedStatuses ?? [206] }
    let statuses = options.acceptedStatuses ?? Set(200...299)
    // The responses of HEAD have heads alone.
    if method == .head { return statuses }
    if method == .get, destination.isFile { return options.statusesOfCompleteResource }
    // What is not a resource, or not kept in a file, may be of any kind, but not a part that was not asked for.
    return statuses.subtracting([206])
  }

  /// The condition of `-z`; nil without it.
  private func condition() throws(Failure) -> ModificationCondition? {
    guard let typed = downloading.condition else { return nil }
    guard let condition = ModificationCondition(typed) else {
      throw .usage(
        "\(typed.named("-z")) is neither a time nor a file that exists: write a time such as \"12 Dec 1999 12:00:00 GMT\" or 1999-12-12."
      )
    }
    return condition
  }
}
