import FormStreamDigest
public import FormStreamHTTP
public import FormStreamMediaTypes

/// Many files, and how each of them is sent: in a form, by POST, or as it is, by PUT to a URL of its own.
///
/// ```swift
/// var batch = try Batch([.path("photos")], to: "https://example.org/photos", as: "photo")
/// batch.journal = "photos.journal"
/// let task = try await batch.start()
/// for try await result in task.results where result.state != .ok { print(result.file.path, result.state) }
/// ```
///
/// With a ``journal``, the same program can be run as often as one likes, whether it was killed or not: it sends what is left,
/// and then what is new or has changed.
public struct Batch: Sendable {
  /// Where the files come from; empty if a ``manifest`` names them.
  public var sources: [BatchSource]
  /// Which files of the sources are listed.
  public var listing = ListingOptions()
  /// The manifest that names the files; nil if the sources do. `formstream plan` makes manifests.
  public var manifest: LocalPath?
  /// The part of the manifest that is sent; nil for all of it.
  public var shard: Shard?
  /// The directory of the journal; nil if none is kept. It is made if it doesn't exist.
  public var journal: LocalPath?
  /// What a run with a journal sends after the files of the run before.
  public var rounds = RoundRules()
  /// Whether files that the server may have accepted in an earlier run are left out. Without a journal, this has
  /// no effect.
  public var skipsDoubtful = false
  /// Whether files that earlier runs have delivered, and that are still there unchanged, have results, too. A program that removes
  /// files after their results needs them: it may end between a result and the removal. Without a journal, this has no effect.
  ///
  /// These results come before the others. Their state is `skipped`, and ``FileResult/isAccepted`` is true. In a round that goes
  /// on, only files of that round have them; the next round has those of all rounds.
  public var includesAcceptedEarlier = false

  /// The request without its body: method, URL, headers, credentials and options. The largest rate in its options is that of
  /// all requests together. ``retry`` counts instead of the options' own policy.
  public var request: TransferRequest
  /// The session. The number of its connections follows from ``concurrency``.
  public var session = TransferSession.Configuration()
  /// The form without the file. The file's part comes last. Each request gets a boundary of its own.
  public var form = Form()
  /// The file names in the form; nil for the last component of each path.
  public var filename: FileTemplate?
  /// Finds out the media types of the files.
  public var sniffer: MediaTypeSniffer
  /// How many files a request has.
  public var packing = Packing.single
  /// The size of slices in bytes, if each request has one slice of a file; nil if each file is sent in one piece.
  public var sliceSize: Int64?
  /// How many requests are sent at the same time; nil if the run finds the number itself: 4 to 128, by what gets through, and at
  /// most 4 for files over 64 MiB.
  public var concurrency: Int?
  /// How many requests may begin in a second; nil for no limit.
  public var requestRate: Double?
  /// Largest rates for some times of the day, besides that of ``request``; the lowest counts. It holds for all requests together,
  /// also for those that began before.
  public var ratePeriods: [RatePeriod] = []
  /// How often a request is tried, and how long it waits in between.
  public var retry = RetryPolicy(attempts: 3)
  /// After how many files that were not accepted the run is ended; nil for no limit.
  public var maximumFailures: Int?
  /// Whether each file's SHA-256 is computed before it is sent, so that results and records have it. Each file is then read
  /// twice.
  public var computesDigest = false
  /// Compares the server's statement about a file with the file; nil if the server states nothing.
  public var check: ResponseCheck?
  /// Whether missing folders are made on the server (WebDAV's MKCOL) if it refuses a file that is sent by PUT with 409, 404 or 500 (nginx).
  /// The file is then sent again. The requests for folders have the headers and credentials of the file's request.
  public var makesCollections = false
  /// Whether each request has an idempotency key. The same files of a manifest have the same key in each run.
  public var sendsIdempotencyKeys = false

  /// Whether the form's own boundary is used, for all requests.
  package var isBoundaryGiven = false
  /// Whether files are searched for the boundary.
  package var verifiesBoundary = false
  /// The name of the file's field.
  package var fieldName = FileTemplate(literal: "file")
  /// The values of some parts of the form, by the indices of the parts.
  package var fieldTemplates: [Int: FileTemplate] = [:]
  /// Where the value is in the response that is kept of each file; nil if none is.
  package var keptValue: ResponsePath?
  /// The URLs of the files, if the files are sent without a form; nil if they are sent in forms.
  package var urls: URLTemplate?
  /// The largest number of requests that the run may find. Each needs two descriptors.
  package var maximumFoundConcurrency = ConcurrencySearch.range.upperBound
  /// The largest number of requests at the same time that the limits may be changed to; nil if it is the first one.
  package var maximumChangedConcurrency: Int?
  /// How many files may be open besides those that are being sent.
  package var spareDescriptors = 256
  /// Whether the server is known to grant access: some of the files may be refused with 401 or 403 one by one, and that does
  /// not end the run.
  package var hasAccess = false
  /// The id of the manifest, or of the run if there is no manifest.
  package var id = UUIDText.random()
  /// Whether ``id`` is the id of a manifest.
  package var hasManifest = false
  /// The names of settings in the messages of records. By default, they are the library's names.
  package var settingName: @Sendable (any MessageSetting) -> String = { $0.description }

  package init(
    _ sources: [BatchSource] = [], request: TransferRequest, sniffer: MediaTypeSniffer = MediaTypeSniffer()
  ) {
    (self.sources, self.request, self.sniffer) = (sources, request, sniffer)
  }
}

extension Batch {
  /// Sends each file in a form, by POST.
  ///
  /// - Parameters:
  ///   - sources: where the files come from.
  ///   - url: where all forms go.
  ///   - fieldName: the name of the file's field.
  /// - Throws: `invalidURL`.
  public init(
    _ sources: [BatchSource], to url: some HTTPURLConvertible, as fieldName: String = "file"
  ) throws(TransferError) {
    self.init(sources, request: TransferRequest(.post, try url.httpURL()))
    self.fieldName = FileTemplate(literal: fieldName)
  }

  /// Sends each file as it is, by PUT.
  ///
  /// - Parameters:
  ///   - sources: where the files come from.
  ///   - url: the URL of each file, with values of the file in braces, such as `https://example.org/{relative}`. If it
  ///     ends in a slash, `{relative}` is added. No two files are sent to one URL.
  /// - Throws: `invalidTemplate`.
  public init(putting sources: [BatchSource], to url: String) throws(BatchError) {
    let urls = try URLTemplate(url, query: [], isSecret: false)
    self.init(sources, request: TransferRequest(.put, urls.base))
    self.urls = urls
  }

  /// Adds a text field to the form of each file, with values of the file.
  public mutating func appendField(_ name: String, _ value: FileTemplate) {
    fieldTemplates[form.parts.count] = value
    form.append(.text(name, ""))
  }

  /// Whether the server stores a file only once if another run sends it again. Idempotency keys don't ensure this for
  /// requests with several files: another run may combine the files differently, and then the keys differ. They don't
  /// ensure it after a redirect to another origin either, because such a redirect drops the key.
  package var isHarmlessInLaterRuns: Bool {
    request.method.isIdempotent
      || sendsIdempotencyKeys && !packing.isShared && !request.options.redirects.allowsOtherOrigins
  }

  /// How many requests wait at the same time until they are repeated, while others are sent. Unless a request has several files,
  /// the file of each stays open.
  package var maximumSetAside: Int {
    packing.isShared ? requestsAtOnce : min(32 + 8 * requestsAtOnce, spareDescriptors)
  }

  /// Whether the run finds the number of requests at the same time. It looks for the number with which most gets through, and a
  /// largest rate leaves nothing to find.
  package var findsConcurrency: Bool {
    concurrency == nil && packing != .together && request.options.maximumRate == nil
      && ratePeriods.isEmpty
  }

  /// How many requests are sent at the same time, at most.
  package var requestsAtOnce: Int {
    if packing == .together { return 1 }
    if findsConcurrency { return maximumFoundConcurrency }
    return min(max(concurrency ?? ConcurrencySearch.range.lowerBound, 1), Self.maximumConcurrency)
  }

  /// The largest number of requests at the same time, whatever the limits are changed to.
  var largestConcurrency: Int { max(requestsAtOnce, maximumChangedConcurrency ?? 0) }

  /// The most requests that are sent at the same time. Each needs two descriptors.
  package static let maximumConcurrency = 1000

  /// How many bytes of a response are kept.
  func maximumResponse(files: Int) -> Int {
    check == nil && keptValue == nil ? 4096 : JSONResponse.maximumBytes(files: files)
  }

  /// Whether a digest of each file is needed.
  var needsDigest: Bool {
    computesDigest || check != nil || filename?.needsDigest ?? false || urls?.needsDigest ?? false
      || fieldTemplates.values.contains(where: \.needsDigest)
  }

  /// The session's settings for the requests of the batch.
  var tunedSession: TransferSession.Configuration {
    var session = session
    session.maximumConnectionsPerHost = largestConcurrency
    session.maximumIdleConnections = largestConcurrency
    session.engines = max(1, min(processorCount, largestConcurrency, 64))
    return session
  }
}
