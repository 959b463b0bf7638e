public import FormStreamMultipart

/// Where a download is stored, and what happens if a file is there already.
public struct DownloadDestination: Sendable {
  /// What happens if the name is taken. No file is changed before the download is complete.
  ///
  /// No case will be added before the next major version, so a `switch` needs no default case.
  @frozen public enum ExistingFile: String, Codable, CaseIterable, Sendable {
    /// The download replaces the file or the link. A directory is not replaced.
    case replace
    /// The download fails with `destination-exists`. If the name is known before the request, the request is not sent.
    case refuse
    /// The download gets a name with a number: `photo-2.jpg`.
    case number
  }

  /// Where the name of a file in a directory comes from.
  @frozen public enum NameSource: String, Codable, CaseIterable, Sendable {
    /// The last segment of the requested URL's path, with percent codes decoded.
    case url
    /// The server's `Content-Disposition` (RFC 6266), or the URL if that header names no file.
    case server
  }

  enum Place: Sendable {
    case file(LocalPath)
    case directory(LocalPath, NameSource)
  }

  /// Gives the destination, after the head of the response has arrived.
  typealias Choice = @Sendable (_ head: TransferResponse) async throws -> DownloadDestination

  let place: Result<Place, MultipartError>
  let existingFile: ExistingFile
  /// Chooses the place; nil if the place is known before the request.
  private(set) var choice: Choice?

  /// A file.
  ///
  /// - Parameters:
  ///   - path: a path as text or bytes, or a file URL of Foundation. If it is another URL, the download fails with
  ///     `not-a-file`, and no request is sent.
  ///   - existingFile: what happens if the name is taken.
  public static func file(
    _ path: some LocalPathConvertible, ifTaken existingFile: ExistingFile = .replace
  ) -> DownloadDestination {
    let path = Result { () throws(MultipartError) in try path.localPath() }
    return DownloadDestination(place: path.map { .file($0) }, existingFile: existingFile)
  }

  /// A file in a directory that exists. The URL or the server names the file.
  ///
  /// The name is made safe: it is one component of a path, is not hidden, doesn't begin like a flag, has no control
  /// characters and no characters that change the direction of text, is valid on other systems, and is not too long. If
  /// nothing usable is left, the name is `download`.
  ///
  /// - Parameters:
  ///   - path: the directory, as for ``file(_:ifTaken:)``.
  ///   - source: where the name of the file comes from.
  ///   - existingFile: what happens if the name is taken. A name from the server can't replace a file: with `replace`
  ///     and `server`, the download fails with `invalid-setting`.
  public static func directory(
    _ path: some LocalPathConvertible, named source: NameSource = .url,
    ifTaken existingFile: ExistingFile = .number
  ) -> DownloadDestination {
    let path = Result { () throws(MultipartError) in try path.localPath() }
    return DownloadDestination(
      place: path.map { .directory($0, source) }, existingFile: existingFile)
  }

  /// A file or a directory that the program chooses when the head of the response has arrived: by its status, URL and headers.
  ///
  /// ```swift
  /// let settings = DownloadSettings(.chosen { head in
  ///   let type = head.headers["Content-Type"].flatMap { MediaType($0) }
  ///   return type?.essence == "image/png" ? .directory("pictures", named: .server) : .file("page.html")
  /// })
  /// ```
  ///
  /// A path that is made from a header may lead to any directory. With ``directory(_:named:ifTaken:)``, the server's name is made
  /// safe.
  ///
  /// The chosen destination has its usual rules: the partial file is beside it, and a later download that chooses the same
  /// destination continues the partial file. The later download has to ask for the complete resource first: only the head of
  /// that response says which destination it is. If the name is taken, or the path leads nowhere, the download fails before the
  /// body is received.
  ///
  /// - Parameter choose: returns the destination, which is none that is chosen again. It is called once for each response that
  ///   is the resource, after redirects, and not for refusals. Meanwhile the body is not received. If the closure throws, the
  ///   download fails with `decision-failed`, and nothing is stored.
  public static func chosen(
    by choose: @escaping @Sendable (_ head: TransferResponse) async throws -> DownloadDestination
  ) -> DownloadDestination {
    var destination = DownloadDestination(
      place: .failure(.destinationNotChosen), existingFile: .refuse)
    destination.choice = choose
    return destination
  }
}

extension MultipartError {
  /// The place is needed before the head of the response has arrived.
  fileprivate static let destinationNotChosen = MultipartError(
    .notAFile, on: "the destination",
    "The place of the download is chosen when the head of its response has arrived: name a file or a directory here.")
}
