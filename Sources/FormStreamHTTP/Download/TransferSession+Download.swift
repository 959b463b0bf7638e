public import FormStreamMultipart

extension TransferSession {
  /// Starts a download and returns at once.
  ///
  /// The bytes go to `NAME.part` beside the destination. Only the user can read this file, and it gets its final name when it
  /// is complete. `NAME.part.json` identifies the version of the bytes. If another download uses these files, this download
  /// makes its own files, such as `NAME.2.part`; neither download disturbs the other.
  ///
  /// A response that is cut short is continued in the next attempt that ``TransferOptions/retry`` allows. The count of attempts
  /// begins again whenever an attempt has made the file longer than it ever was.
  ///
  /// - Parameters:
  ///   - request: a GET without a body. It can't have the headers `Range` and `If-Range`, and asks for no content coding. Its
  ///     ``TransferOptions/responseTarget`` is not used. Only the statuses 200 and 203 are accepted unless
  ///     ``TransferOptions/acceptedStatuses`` is set: no other status says that the body is the resource.
  ///   - settings: where and how the file is stored.
  public func startDownload(
    _ request: TransferRequest, _ settings: DownloadSettings
  ) -> TransferTask<DownloadResult> {
    start(DownloadRun(request, settings, session: self, engine: engines[nextEngine()]))
  }

  /// Continues a download that was cancelled or failed, and returns at once.
  ///
  /// - Parameters:
  ///   - data: the data that the earlier download returned. It contains no headers and no credentials.
  ///   - headers: the headers of the requests.
  ///   - credentials: the credentials of the requests.
  ///   - options: how the requests are sent.
  /// - Throws: `invalidURL`.
  public func startDownload(
    resuming data: DownloadResumeData, headers: HTTPHeaders = [:], credentials: Credentials? = nil,
    options: TransferOptions = .download
  ) throws(TransferError) -> TransferTask<DownloadResult> {
    let request = try TransferRequest(
      .get, data.url, headers: headers, credentials: credentials, options: options)
    return startDownload(request, data.settings)
  }

  /// Downloads a resource to a file; see ``startDownload(_:_:)``.
  ///
  /// - Throws: a ``TransferError`` if the outcome is not `ok`, `CancellationError` if the download was cancelled.
  @discardableResult
  nonisolated(nonsending) public func download(
    _ url: some HTTPURLConvertible, _ settings: DownloadSettings,
    query: KeyValuePairs<String, String> = [:], headers: HTTPHeaders = [:],
    credentials: Credentials? = nil, options: TransferOptions = .download,
    progress: ProgressHandler? = nil
  ) async throws -> DownloadedFile {
    let request = try TransferRequest(
      .get, url, query: query, headers: headers, credentials: credentials, options: options)
    let run = DownloadRun(request, settings, session: self, engine: engines[nextEngine()])
    return try await result(of: run, progress: progress).confirmedFile()
  }

  /// Downloads a resource to a file, and replaces a file of that name; see ``startDownload(_:_:)``.
  ///
  /// - Throws: as ``download(_:_:query:headers:credentials:options:progress:)``.
  @discardableResult
  nonisolated(nonsending) public func download(
    _ url: some HTTPURLConvertible, to file: some LocalPathConvertible,
    query: KeyValuePairs<String, String> = [:], headers: HTTPHeaders = [:],
    credentials: Credentials? = nil, options: TransferOptions = .download,
    progress: ProgressHandler? = nil
  ) async throws -> DownloadedFile {
    try await download(
      url, DownloadSettings(.file(file)), query: query, headers: headers, credentials: credentials,
      options: options, progress: progress)
  }
}

extension TransferOptions {
  /// The options of a download: up to three attempts.
  public static var download: TransferOptions {
    var options = TransferOptions()
    options.retry.attempts = 3
    return options
  }

  /// The statuses of responses that are a complete resource. RFC 9110 §15.3: 200, and 203 if a proxy has changed the resource.
  /// A 206 has only a part of the resource. No other status says that the body is the resource.
  package var statusesOfCompleteResource: Set<Int> {
    (acceptedStatuses ?? [200, 203]).subtracting([206])
  }
}
