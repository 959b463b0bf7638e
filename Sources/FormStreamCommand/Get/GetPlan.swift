import FormStreamDigest
import FormStreamIntake
import FormStreamMultipart
import FormStreamPlatform
import FormStreamHTTP

/// The checked arguments of `get`.
struct GetPlan {
  /// The request for one URL, and where its response goes.
  struct Item {
    let place: RequestPlace
    let request: TransferRequest
    let destination: Destination
    let expectedDigest: SHA256Digest?

    /// The number of the request in the command, from 0.
    var number: Int { place.index }
  }

  /// Where a response goes.
  enum Destination {
    /// Standard output, or the record of `--json`.
    case output
    /// A file that a flag or the URL names.
    case file(LocalPath)
    /// A file in a directory; the URL or the server names the file.
    case directory(LocalPath, DownloadDestination.NameSource)
  }

  /// The requests for the URLs on the command line.
  let items: [Item]
  /// The requests for the URLs of lists; nil without lists.
  let listed: Guarded<ListedItems>?
  /// How many requests are sent at the same time.
  let atOnce: Int
  let method: HTTPMethod
  /// Whether there is one display for all requests, and a summary.
  let hasSummary: Bool
  let series: SeriesPlan
  let range: RequestedRange?
  /// The flag that chooses the range.
  let rangeFlag: String
  /// The condition of `-z` for bodies; nil if every body is wanted.
  let condition: ModificationCondition?
  /// Whether no file is replaced.
  let keepsExisting: Bool
  /// Whether a URL is not requested if its file exists.
  let skipsExisting: Bool
  /// Whether an incomplete file is removed if the download fails.
  let removesOnError: Bool
  let resumes: Bool
  /// Whether `--expect-status` chooses the statuses that are a success.
  let choosesStatuses: Bool
}

extension GetPlan {
  init(
    _ arguments: LowArguments, _ files: CommandFiles, _ input: InputReader
  ) throws(Failure) {
    let (request, downloading) = (arguments.request, arguments.downloading)
    try request.check(keepsResponse: arguments.printsJSON && arguments.output == nil)
    try StandardInputUses(arguments).check()
    let hasLists = !arguments.pathLists.isEmpty
    try downloading.check(with: request, hasLists: hasLists)
    var notes = PlannedBody.none.notes(arguments.form, request, for: .get)
    let sources = try [DownloadSource](
      arguments.operands, request, downloading, hasLists: hasLists, input, &notes)
    try downloading.checkDigests(of: sources.count, hasLists: hasLists)
    let urls = try [HTTPURL](sources.map(\.url), request, input)
    var lists = ListedURLs(arguments.pathLists)
    var first = urls.first
    if first == nil { first = try ListedItems.firstURL(of: &lists, request, input) }
    let isForNoURL = first == nil
    if isForNoURL { first = try ListedItems.anyURL(request, input) }
    guard let first else { throw .usage("Name the URL to get.") }
    var planned = try PlannedRequest(
      request.asksForHead ? .head : .get, to: first, isForNoURL: isForNoURL, with: .none, request, downloading, input,
      &notes)
    planned.request.options = try TransferOptions(request)
    if let stated = try request.headers.statedLength(), stated > 0 {
      throw .usage(
        "-H states a Content-Length of \(stated), and get sends no body: leave the header out.")
    }
    condition = try planned.fit(
      to: downloading, printsAnyStatus: arguments.printsJSON || request.outputsAnyStatus)
    atOnce = arguments.sending.concurrency ?? 1
    hasSummary = arguments.sending.concurrency != nil || hasLists
    planned.session.maximumConnectionsPerHost = max(
      planned.session.maximumConnectionsPerHost ?? 0, atOnce)
    let requests = GetRequests(
      planned: planned, arguments: request, downloading: downloading, input: input,
      printsRecord: arguments.printsJSON, atOnce: atOnce)
    var items: [Item] = []
    for (index, url) in urls.enumerated() {
      items.append(try requests.item(RequestPlace(index: index), url, sources[index].output, &notes))
    }
    let printing = try PlannedPrinting(
      request, downloading, printsRecord: arguments.printsJSON, input)
    try Self.check(items, sources, request, downloading, files, atOnce)
    if !arguments.printsJSON {
      try downloading.checkStandardOutput(items, sources, hasLists: hasLists, atOnce)
    }
    listed =
      try hasLists
      ? Guarded(
        ListedItems(lists, of: arguments.pathLists, requests, files, after: items, notes: notes))
      : nil
    if atOnce > 1 { try downloading.checkAtOnce(items, request, atOnce, hasLists: hasLists) }
    self.items = items
    method = planned.request.method
    series = SeriesPlan(
      request, downloading, in: planned.session, printing: printing,
      progress: request.progress, notes: notes)
    (range, rangeFlag) = (downloading.range, downloading.rangeFlag)
    (keepsExisting, removesOnError) = (downloading.keepsExisting, downloading.removesOnError)
    skipsExisting = downloading.skipsExisting
    resumes = downloading.resumes
    choosesStatuses = request.options.acceptedStatuses != nil
  }
}

/// Makes the requests of `get`. They differ in their URLs, and in where the responses go.
struct GetRequests {
  let planned: PlannedRequest
  let arguments: RequestArguments
  let downloading: DownloadArguments
  let input: InputReader
  let printsRecord: Bool
  /// How many requests are sent at the same time.
  let atOnce: Int

  /// - Parameters:
  ///   - place: which request of the command it is.
  ///   - output: the flag for this URL; nil if there is none.
  func item(
    _ place: RequestPlace, _ url: HTTPURL, _ output: DownloadArguments.Output?, _ notes: inout [String]
  ) throws(Failure) -> GetPlan.Item {
    let isListed = place.line != nil
    let destination = try GetPlan.Destination(
      output, of: url, downloading, isAsOnServer: downloading.storesAsOnServer(arguments),
      printsRecord: printsRecord, isListed: isListed)
    return try GetPlan.Item(
      place, isListed ? planned.request(toListed: url, &notes) : planned.request(to: url, &notes), destination, downloading,
      isRetryGiven: arguments.isRetryGiven)
  }
}

extension PlannedRequest {
  /// Sets the headers and options of requests of `get`.
  ///
  /// - Parameter printsAnyStatus: whether responses of every status are printed.
  /// - Returns: the condition of `-z` for bodies; nil if every body is wanted.
  fileprivate mutating func fit(
    to downloading: DownloadArguments, printsAnyStatus: Bool
  ) throws(Failure) -> ModificationCondition? {
    if let limit = request.options.maximumResponseSize {
      request.options.responseCompression?.limit = limit
    }
    let condition = try downloading.modificationCondition()
    if let header = condition?.header {
      guard !request.headers.contains(header.name) else {
        throw .usage("-z and -H both set \(header.name): leave one out.")
      }
      request.headers.append(header.name, header.value)
    }
    // As in curl, the heads of responses to HEAD are always printed.
    let bodyCondition = request.method == .head ? nil : condition
    let isUnprinted = printsAnyStatus ? nil : request.options.isUnprintedRedirect(except: [])
    request.options.leavesOutBody = { response in
      bodyCondition?.excludes(response) == true || isUnprinted?(response) == true
    }
    if let range = downloading.range {
      guard !request.headers.contains("Range") else {
        throw .usage("\(downloading.rangeFlag) and -H both set the range: leave one out.")
      }
      request.headers.append("Range", range.header)
    }
    allowAttempts(request.options.retry.attempts, TransferOptions.download.retry.attempts)
    return bodyCondition
  }
}

extension GetPlan.Item {
  /// - Parameters:
  ///   - place: which request of the command it is.
  ///   - request: the request with the options that all requests share.
  ///   - isRetryGiven: whether `--retry` was typed.
  fileprivate init(
    _ place: RequestPlace, _ request: TransferRequest, _ destination: GetPlan.Destination,
    _ downloading: DownloadArguments, isRetryGiven: Bool
  ) throws(Failure) {
    let isFile = destination.isFile
    var request = request
    let typed = request.options.acceptedStatuses
    request.options.refusesUnaskedRange = request.method != .head
    request.options.acceptedStatuses = Self.acceptedStatuses(
      of: request, inFile: isFile, hasRange: downloading.range != nil)
    // For a request with one of these conditions, 304 (nothing has changed) is a success.
    if typed == nil,
      ["If-Modified-Since", "If-None-Match"].contains(where: request.headers.contains)
    {
      request.options.acceptedStatuses?.insert(304)
    }
    // By default, a download to a file is repeated if it fails: no bytes are shown before the file is complete.
    if !isRetryGiven, isFile, [.get, .head].contains(request.method) {
      request.options.retry.attempts = TransferOptions.download.retry.attempts
    }
    if downloading.range?.isSeveral == true, isFile {
      throw downloading.severalRanges
    }
    let digests = downloading.digests
    self.init(
      place: place, request: request, destination: destination,
      expectedDigest: digests.indices.contains(place.index) ? digests[place.index] : nil)
  }

  /// The statuses that are a success.
  private static func acceptedStatuses(
    of request: TransferRequest, inFile isFile: Bool, hasRange: Bool
  ) -> Set<Int> {
    let (method, options) = (request.method, request.options)
    // RFC 9110 §14.2: "A server MAY ignore the Range header field". It then sends the complete file with 200.
    // "A server MUST ignore a Range header field received with a request method […] for which range handling is not
    // defined", as for HEAD.
    if hasRange, method != .head { return options.acceptedStatuses ?? [206] }
    let statuses = options.acceptedStatuses ?? Set(200...299)
    // Responses to HEAD have no bodies.
    if method == .head { return statuses }
    if method == .get, isFile { return options.statusesOfCompleteResource }
    // No range was asked for, so 206 is not a success.
    return statuses.subtracting([206])
  }
}

extension DownloadArguments {
  /// Fails if flags contradict each other.
  fileprivate func check(with request: RequestArguments, hasLists: Bool) throws(Failure) {
    let storesOtherThanBody = Self.storesOtherThanBody(request)
    if !request.putsDataIntoURL, let piece = request.data.first {
      throw .usage(
        "\(piece.flag) is for a body, and get sends none: -G puts the data into the URL; formstream post sends it, with -X GET as well."
      )
    }
    if resumes, storesOtherThanBody {
      throw .usage(
        "-C - goes on with a file, and can't be used with -i, -I and -X: leave them out.")
    }
    let isCompressed = request.options.responseCompression != nil
    if let directory = directory {
      guard !directory.bytes.isEmpty, !directory.bytes.contains(0) else {
        throw .usage("--output-dir needs the name of a directory; . is the current one.")
      }
    }
    if resumes, removesOnError {
      throw .usage(
        "-C - goes on with what a download has left, and --remove-on-error leaves nothing: leave one out."
      )
    }
    if firstByte != nil || resumes, givenRange != nil {
      throw .usage("-C and --range both choose what is received: leave one out.")
    }
    if isCompressed, resumes || range != nil {
      throw .usage(
        "--compressed can't be used with \(resumes ? "-C" : "--range"): what follows in the middle of a compressed file can't be decompressed."
      )
    }
    if resumes, request.outputsAnyStatus {
      throw .usage("-C and --output-any-status exclude each other: only a success is continued.")
    }
    if usesServerNames,
      isCompressed || range != nil || request.outputsAnyStatus || storesOtherThanBody
    {
      throw .usage(
        "-J names complete files as they are on the server: with --compressed, --range, --output-any-status, -i, -I and -X, \(hasLists ? "use --remote-name-all" : "name the file with -o")."
      )
    }
    if skipsExisting { try checkSkipping(request) }
    if hasLists { try checkLists() }
  }

  /// Fails if a file that exists can't be the reason to leave out a request.
  private func checkSkipping(_ request: RequestArguments) throws(Failure) {
    if range != nil || request.outputsAnyStatus {
      throw .usage(
        "--skip-existing takes a file that exists for complete, and \(range != nil ? rangeFlag : "--output-any-status") stores something else under its name: leave one out."
      )
    }
    if usesServerNames {
      throw .usage(
        "-J lets the server name the file, so --skip-existing can't tell before the request whether it exists: use --remote-name-all in place of -J."
      )
    }
    if keepsExisting {
      throw .usage(
        "--skip-existing requests no URL whose file exists, and --no-clobber gives it another name: leave one out."
      )
    }
    if let digest = digestArguments.first {
      throw .usage(
        "\(digest.named("--sha256")) is for what is received, and --skip-existing does not read a file that exists: leave one out."
      )
    }
  }

  /// Fails if nothing that a list may have could be received with these flags.
  private func checkLists() throws(Failure) {
    if resumes, !namesLists { throw .usage("-C - goes on with a file: name it with -O.") }
    if namesLists, range?.isSeveral == true { throw severalRanges }
  }

  /// The failure of several ranges for a file.
  fileprivate var severalRanges: Failure {
    .usage(
      "\(rangeFlag) asks for several ranges, which come as parts of one response: they are printed on standard output. For a file, ask for one range."
    )
  }

  /// Fails if requests at the same time could replace each other's file, or mix their bodies.
  fileprivate func checkAtOnce(
    _ items: [GetPlan.Item], _ request: RequestArguments, _ atOnce: Int, hasLists: Bool
  ) throws(Failure) {
    // Nothing shows in time that a name of the server's, or a number, is the name of a file on its way.
    if usesServerNames {
      throw .usage(
        "-J lets the servers name the files, and with -j two of them may choose one name at the same time: leave -j out, or use \(hasLists ? "--remote-name-all" : "-O or -o")."
      )
    }
    if keepsExisting {
      throw .usage(
        "--no-clobber numbers files whose names are taken, and with -j names may be taken at the same time: leave one out, or use an empty directory with --output-dir."
      )
    }
    for item in items { try item.checkAtOnce() }
    try TakenFiles.check(items, remedyForTakenNames(request, atOnce, isListed: false))
  }

  fileprivate func checkDigests(of count: Int, hasLists: Bool) throws(Failure) {
    if hasLists, let digest = digestArguments.first {
      throw .usage(
        "\(digest.named("--sha256")) is for a URL on the command line: leave it out, or leave out the list of URLs.")
    }
    guard digests.isEmpty || digests.count == count else {
      throw .usage(
        "--sha256 is given \(digests.count == 1 ? "once" : "\(digests.count) times"), and there are \(count) URLs: give it for each, in their order."
      )
    }
  }

  /// The condition of `-z`; nil without `-z`.
  fileprivate func modificationCondition() throws(Failure) -> ModificationCondition? {
    guard let typed = condition else { return nil }
    guard let condition = ModificationCondition(typed) else {
      throw .usage(
        "\(typed.named("-z")) is neither a time nor a file that exists: write a time such as \"12 Dec 1999 12:00:00 GMT\" or 1999-12-12."
      )
    }
    return condition
  }

  /// Whether something other than the body of a GET is stored.
  private static func storesOtherThanBody(_ request: RequestArguments) -> Bool {
    request.includesHeads || request.method != nil
  }

  /// Whether the complete file is stored as it is on the server.
  func storesAsOnServer(_ request: RequestArguments) -> Bool {
    request.options.responseCompression == nil && range == nil && !request.outputsAnyStatus
      && !Self.storesOtherThanBody(request)
  }
}
