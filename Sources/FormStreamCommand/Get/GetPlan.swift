import FormStreamDigest
import FormStreamIntake
import FormStreamMultipart
import FormStreamPlatform
import FormStreamTransfer

/// The checked arguments of `get`.
struct GetPlan {
  /// What becomes of one URL.
  struct Item {
    let request: TransferRequest
    let destination: Destination
    let expectedDigest: SHA256.Digest?
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
  let resumes: Bool
  let makesDirectories: Bool
  let printsRecord: Bool
  /// Whether a file gets the response of a refused request, too.
  let outputsAnyStatus: Bool
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
    let urls = try urls(&notes)
    let outputs = downloading.outputs
    guard outputs.count <= urls.count else {
      throw .usage(
        "-o and -O are given \(outputs.count) times, and there \(urls.count == 1 ? "is one URL" : "are \(urls.count) URLs"): give one for each."
      )
    }
    let digests = downloading.digests
    guard digests.isEmpty || digests.count == urls.count else {
      throw .usage(
        "--sha256 is given \(digests.count == 1 ? "once" : "\(digests.count) times"), and there are \(urls.count) URLs: give it for each, in their order."
      )
    }
    // With the query, so that the record shows it too.
    let resolved = try resolved(urls)
    var (planned, configuration) = try plannedRequest(
      request.asksForHead ? .head : .get, to: resolved[0], .none, &notes)
    planned.options = try getOptions()
    if let range = downloading.range {
      guard !planned.headers.contains("Range") else {
        throw .usage("--range and -H both set the range: leave one out.")
      }
      planned.headers.append("Range", range.header)
    }
    // The session's own limit is for many requests; here --retry sets the limit.
    configuration.retryBudget = max(
      configuration.retryBudget, planned.options.retry.attempts - 1)
    var items: [GetPlan.Item] = []
    for (index, url) in resolved.enumerated() {
      var request = request(like: planned, to: url, configuration, &notes)
      let destination = try destination(index < outputs.count ? outputs[index] : nil, of: url)
      request.options.acceptedStatuses = acceptedStatuses(for: destination, planned.options)
      items.append(
        GetPlan.Item(
          request: request, destination: destination,
          expectedDigest: digests.isEmpty ? nil : digests[index]))
    }
    try checkFiles(items)
    return GetPlan(
      items: items, configuration: configuration, cookieJar: self.request.cookieJar?.path,
      range: downloading.range,
      resumes: downloading.resumes, makesDirectories: downloading.makesDirectories,
      printsRecord: printsJSON, outputsAnyStatus: request.outputsAnyStatus,
      printing: try plannedPrinting(),
      responseLimit: request.responseLimit ?? 1024 * 1024, notes: notes, isQuiet: request.isQuiet,
      progress: request.progress)
  }

  private func checkDownload() throws(Failure) {
    try checkMethod(.none)
    if !request.putsDataIntoURL, let piece = request.data.first {
      throw .usage(
        "\(piece.spelling) is for a body, and get sends none: -G puts the data into the URL; formstream post sends it, with -X GET as well."
      )
    }
    if downloading.resumes, isOtherThanFile {
      throw .usage(
        "-C - goes on with a file, and can't be used with -i, -I and -X: leave them out.")
    }
    let isCompressed = request.options.decompression != nil
    if let directory = downloading.directory {
      guard !directory.bytes.isEmpty, !directory.bytes.contains(0) else {
        throw .usage("--output-dir needs the name of a directory; . is the current one.")
      }
    }
    if downloading.resumes, downloading.range != nil {
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

  /// The URLs in their order.
  private func urls(_ notes: inout [String]) throws(Failure) -> [URLArgument] {
    var urls: [URLArgument] = []
    for operand in operands { urls.append(try URLArgument(operand)) }
    if request.urlFile != nil { return [try url(operands.first, for: .get, notes: &notes)] }
    guard !urls.isEmpty else {
      throw .usage("Name the URL to get: formstream get [FLAG]... https://example.org/path.")
    }
    return urls
  }

  private func getOptions() throws(Failure) -> TransferOptions {
    var options = try options()
    // A GET may always be sent again.
    if !request.isRetryGiven { options.retry.attempts = TransferOptions.download.retry.attempts }
    if let limit = options.maximumResponseSize { options.decompression?.limit = limit }
    return options
  }

  /// The statuses that are a success.
  private func acceptedStatuses(
    for destination: GetPlan.Destination, _ options: TransferOptions
  ) -> Set<Int> {
    // RFC 9110 §14.2: "A server MAY ignore the Range header field", and then sends all with 200.
    if downloading.range != nil { return options.acceptedStatuses ?? [206] }
    guard destination.isOutput else { return options.statusesOfCompleteResource }
    // What is printed may be of any kind, but not a part that was not asked for.
    return (options.acceptedStatuses ?? Set(200...299)).subtracting([206])
  }

  // MARK: Files

  private func destination(
    _ output: DownloadArguments.Output?, of url: HTTPURL
  ) throws(Failure) -> GetPlan.Destination {
    let namesByURL = downloading.namesAll || downloading.usesServerNames
    guard let output = output ?? (namesByURL ? .remoteName : nil) else {
      if downloading.resumes {
        throw .usage("-C - goes on with a file: name it with -o or -O.")
      }
      return .output
    }
    switch output {
    case .file(let argument) where argument.isDash:
      if printsJSON {
        throw .usage(
          "--json and -o - both print to standard output: leave out -o, and the record holds the response."
        )
      }
      if downloading.resumes {
        throw .usage("-C - goes on with a file, and -o - is standard output: name a file.")
      }
      return .output
    case .file(let argument):
      guard !argument.bytes.isEmpty, !argument.bytes.contains(0) else {
        throw .usage("-o needs the name of a file, or - for standard output.")
      }
      return .file(pathInDirectory(argument.bytes))
    case .remoteName:
      let directory = downloading.directory.map(\.path) ?? ""
      if downloading.usesServerNames { return .directory(directory, .server) }
      guard isNotAsOnServer else { return .directory(directory, .url) }
      return .file(pathInDirectory(SafeName(lastSegmentOf: url).numbered(1).bytes))
    }
  }

  /// Whether what is stored is not the complete file as it is on the server.
  private var isNotAsOnServer: Bool {
    request.options.decompression != nil || downloading.range != nil || request.outputsAnyStatus
      || isOtherThanFile
  }

  /// Whether what is stored is not the body that GET returns.
  private var isOtherThanFile: Bool { request.includesHeads || request.method != nil }

  /// A file in the directory of `--output-dir`.
  func pathInDirectory(_ name: [UInt8]) -> LocalPath {
    guard let directory = downloading.directory, name.first != UInt8(ascii: "/") else {
      return LocalPath(bytes: name)
    }
    return LocalPath(bytes: directory.bytes + [UInt8(ascii: "/")] + name)
  }

  /// Checks that no file is written twice. Those that the server names get numbers.
  private func checkFiles(_ items: [GetPlan.Item]) throws(Failure) {
    var names: Set<[UInt8]> = []
    for item in items {
      let name: [UInt8]
      switch item.destination {
      case .file(let path): name = path.bytes
      case .directory(_, .url):
        name = pathInDirectory(SafeName(lastSegmentOf: item.request.url).numbered(1).bytes).bytes
      default: continue
      }
      guard names.insert(canonical(LocalPath(bytes: name)).bytes).inserted else {
        throw .usage(
          "Two URLs would be stored in the file \"\(LocalPath(bytes: name))\": give each a name with -o, or use -J, which numbers them."
        )
      }
    }
    if request.responseLimit != nil, items.contains(where: { !$0.destination.isOutput }) {
      throw .usage(
        "--max-response limits the response's body in the record of --json: with -o, the complete body is written."
      )
    }
  }
}

extension GetPlan.Destination {
  /// Whether the response goes to standard output, or into the record.
  var isOutput: Bool { if case .output = self { true } else { false } }
}

extension SafeName {
  /// The name at the end of a URL, with percent codes decoded.
  init(lastSegmentOf url: HTTPURL) {
    let path = url.absoluteString.prefix { $0 != "?" && $0 != "#" }
    // The scheme, nothing, and the host come before the path.
    let segment =
      path.split(separator: "/", omittingEmptySubsequences: false).dropFirst(3).last ?? ""
    let decoded = String(validating: PercentDecoder.decoded(segment.utf8), as: UTF8.self)
    self.init(filename: decoded ?? String(segment), field: "download")
  }
}
