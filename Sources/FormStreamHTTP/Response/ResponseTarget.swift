import FormStreamPlatform
public import FormStreamMultipart

/// Where a response's body goes.
public struct ResponseTarget: Sendable {
  enum Kind: Sendable {
    case memory(limit: Int)
    case file(Result<LocalPath, MultipartError>)
    case stream(@Sendable (UnsafeRawBufferPointer) throws -> Void)
    case reader(ArrivingResponse)
    case download(DownloadSink)
    /// The object stores the response; nil before the target is used for a request.
    case resumableFile(DownloadSettings, ResponseDownload?)
  }

  /// How many bytes of a response are kept in memory if the program doesn't say: 1 MiB.
  public static let defaultLimit = 1024 * 1024

  let kind: Kind
  /// Whether the target also receives the response to a refused request.
  let includesRefused: Bool
  /// Whether a response that is too long to be kept is nevertheless read to its end, however long it is.
  private(set) var readsToEnd = false
  /// Whether a body that is too long to be kept is cut, instead of being an error.
  private(set) var cuts = false

  /// Whether the body is passed on as it arrives, so that received bytes can't be taken back.
  var isStream: Bool {
    switch kind {
    case .stream, .reader, .download: true
    case .memory, .file, .resumableFile: false
    }
  }
  /// Whether the target is opened, and possibly changed, even if the body is empty.
  var isFile: Bool {
    switch kind {
    case .file, .download, .resumableFile: true
    case .memory, .stream, .reader: false
    }
  }
  var isDownload: Bool { if case .download = kind { true } else { false } }
  var isMemory: Bool { if case .memory = kind { true } else { false } }

  /// Keeps the body in the result. A body of more than `limit` bytes is an error, `responseTooLarge`. The outcome is still
  /// `ok`, because the server has accepted the request. The error's ``TransferError/response`` has the first `limit` bytes.
  ///
  /// If the server refuses the request, the first `limit` bytes of its response are kept.
  public static func memory(limit: Int = defaultLimit) -> ResponseTarget {
    ResponseTarget(kind: .memory(limit: limit), includesRefused: true)
  }

  /// Keeps the first `limit` bytes of the body in the result. Further bytes are read and dropped, and the response is marked
  /// as truncated; see ``TransferResponse/isTruncated``.
  public static func truncated(at limit: Int) -> ResponseTarget {
    var target = memory(limit: limit)
    target.cuts = true
    return target
  }

  /// Like ``truncated(at:)``, but the response is always read to its end. It is then known whether the response is complete,
  /// and `maximumResponseSize` applies.
  package static func truncated(at limit: Int, readingToEnd: Bool) -> ResponseTarget {
    var target = truncated(at: limit)
    target.readsToEnd = readingToEnd
    return target
  }

  /// Keeps nothing. A short body is read to keep the connection; otherwise the connection is closed.
  public static let dropped = truncated(at: 0)

  /// Writes a file, which has a temporary name until it is complete.
  ///
  /// - Parameters:
  ///   - path: a path as text or bytes, or a file URL of Foundation. With another URL the request fails with
  ///     `not-a-file`, and nothing is sent.
  ///   - includingRefused: whether a response whose status is not accepted is also written to the file. If not, an existing
  ///     file stays, and up to 1 MiB of the response is kept in the result.
  public static func file(
    _ path: some LocalPathConvertible, includingRefused: Bool = false
  ) -> ResponseTarget {
    ResponseTarget(
      kind: .file(Result { () throws(MultipartError) in try path.localPath() }),
      includesRefused: includingRefused)
  }

  /// The error if the response to a successful request has more bytes than are kept. Nil if all bytes were kept, or if the
  /// caller wants no more.
  func excess(of response: TransferResponse) -> TransferError? {
    guard case .memory(let limit) = kind, !cuts, response.isTruncated, response.body.count >= limit
    else { return nil }
    return .responseTooLarge(response.url, forTargetOf: limit)
  }

  /// The error of a held response whose end is missing. The response was held because another response was expected in its
  /// place.
  func excess(ofHeld held: TransferResponse) -> TransferError? {
    held.isTruncated ? .heldResponseCut(held) : nil
  }

  /// Stores the response as a download: the bytes go to `NAME.part` beside the destination, and the file gets its name when it
  /// is complete. See ``TransferSession/startDownload(_:_:)``.
  ///
  /// This target turns a request into a download when its head has arrived:
  ///
  /// ```swift
  /// decisions.responseHead = { head in
  ///   let type = head.headers["Content-Type"].flatMap { MediaType($0) }
  ///   return type?.essence == "video/mp4" ? .download(DownloadSettings(.file("film.mp4"))) : nil
  /// }
  /// ```
  ///
  /// ``TransferResult/downloadedFile`` is the complete file. If the response to a GET broke off, the partial file stays, and
  /// ``TransferResult/downloadResumeData`` continues it in a download. This request itself asks for everything: if it is sent
  /// again, the file begins again. A partial file that another request has left stays as it is. If the method is not GET, the
  /// partial file is removed, because no other request can ask for the rest. A HEAD can't have this target: its file would be
  /// empty.
  ///
  /// A response whose status is not accepted is not stored: up to 1 MiB of it is kept in the result. If the page that a 303 has
  /// named is missing, the outcome is `ok`, because the request was carried out, and the error is `responseNotStored`. The
  /// request can't have the headers `Range` and `If-Range`, and its response can't be decompressed.
  public static func download(_ settings: DownloadSettings) -> ResponseTarget {
    ResponseTarget(kind: .resumableFile(settings, nil), includesRefused: false)
  }

  /// This target for one request.
  func storing(in download: ResponseDownload?) -> ResponseTarget {
    guard case .resumableFile(let settings, _) = kind else { return self }
    return ResponseTarget(kind: .resumableFile(settings, download), includesRefused: false)
  }

  /// Whether the response is stored as a download, although the request is none.
  var isResumableFile: Bool { if case .resumableFile = kind { true } else { false } }

  /// - Throws: the error of a path or URL that can't name a file.
  func check() throws(TransferError) {
    if case .file(.failure(let error)) = kind { throw TransferError(error) }
  }

  /// Passes the body to `receive`, piece by piece as it arrives.
  ///
  /// `receive` is called on the session's own threads, one call after the other, and may take its time: meanwhile up to two
  /// megabytes are received, and no more. It receives only the final response, not the response of a redirect or of an attempt
  /// that is repeated. A response that ended early is not requested again.
  ///
  /// The last call returns before the request ends. But if the request is cancelled or exceeds a time limit, it ends at once: a
  /// call that is being made then goes on, on its thread, and is the last.
  ///
  /// - Parameters:
  ///   - includingRefused: whether `receive` also gets a response whose status is not accepted. If not, up to 1 MiB of
  ///     the response is kept in the result.
  ///   - receive: receives a piece of the body, which is valid during the call. If it throws, the request fails.
  public static func stream(
    includingRefused: Bool = true,
    _ receive: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Void
  ) -> ResponseTarget {
    ResponseTarget(kind: .stream(receive), includesRefused: includingRefused)
  }

  /// Passes the response to the caller of ``TransferSession/open(_:progress:)``, who reads it.
  static func reader(_ response: ArrivingResponse) -> ResponseTarget {
    ResponseTarget(kind: .reader(response), includesRefused: true)
  }

  /// Stores the response in the partial file of a download.
  static func download(_ sink: DownloadSink) -> ResponseTarget {
    ResponseTarget(kind: .download(sink), includesRefused: false)
  }
}

extension TransferOptions {
  /// Whether a final response with this status stays in memory.
  func keepsInMemory(_ status: Int) -> Bool {
    responseTarget.isMemory || !responseTarget.includesRefused && !accepts(status)
  }
}
