package import FormStreamMultipart
import FormStreamPlatform

/// The names of a download's files, in one directory.
struct DownloadName: Sendable {
  /// The name that was asked for, or that the URL gives.
  let base: FileName
  /// Whether the server may give the file another name.
  let mayBeServers: Bool

  fileprivate init(base: FileName) { (self.base, mayBeServers) = (base, false) }

  init(_ place: DownloadDestination.Place, _ url: HTTPURL) {
    switch place {
    case .file(let path): (base, mayBeServers) = (path.name, false)
    case .directory(_, let source):
      base = SafeName(firstUsable: [url.lastSegment], orElse: "download").fileName
      mayBeServers = source == .server
    }
  }

  /// The final name.
  ///
  /// - Parameter server: the name that the server gives the file; nil if it gives none.
  func final(_ server: String?) -> FileName {
    guard mayBeServers, let server, let name = SafeName(server) else { return base }
    return name.fileName
  }

  /// The names of partial files, in the order in which they are tried. Each is made from the base name, which is cut if it is
  /// long. A partial file's name is left out if this name, or the name of its record, is the base name.
  func partials(_ count: Int) -> some Sequence<FileName> {
    (1...count).lazy.map(partial).filter { $0 != base && Self.record(of: $0) != base }
  }

  private func partial(_ number: Int) -> FileName {
    // The name of the partial file's record must not be too long either.
    let record = base.appending(
      Array((number > 1 ? ".\(number)" : "").utf8) + Self.suffix + Self.record)
    return FileName(bytes: Array(record.bytes.dropLast(Self.record.count)))
  }

  /// The name of the record of a partial file.
  static func record(of partialFile: FileName) -> FileName { partialFile.appending(record) }

  private static let suffix = Array(".part".utf8)
  private static let record = Array(".json".utf8)
}

extension DownloadDestination {
  /// The files that a download may use in its directory until it is complete: partial files with the first names that are
  /// tried, and a record for each of these names.
  ///
  /// - Parameter path: the path of the complete file, or the path that the URL gives it.
  package static func partialFiles(of path: LocalPath) -> [LocalPath] {
    let directory = path.bytes.dropLast(path.name.bytes.count)
    return DownloadName(base: path.name).partials(3)
      .flatMap { [$0, DownloadName.record(of: $0)] }
      .map { LocalPath(bytes: directory + $0.bytes) }
  }
}

extension HTTPURL {
  /// The last segment of the path, with percent codes decoded if that gives text; nil if it is empty.
  fileprivate var lastSegment: String? {
    // Splits bytes, not characters: a delimiter and a combining mark after it are one `Character`.
    let path = absoluteString.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
      .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    // The pieces before the path are the scheme, an empty piece, and the host.
    guard path.count > 3, let segment = path.last, !segment.isEmpty else { return nil }
    let decoded = PercentDecoder.decoded(Array(segment))
    return String(validating: decoded, as: UTF8.self) ?? String(Substring(segment))
  }
}

extension HTTPHeaders {
  /// The name that the server gives the file; nil if there is none.
  ///
  /// RFC 6266 §4.1: `filename*` comes before `filename`, and the name is used whatever the disposition type is. Percent codes
  /// in `filename` are not decoded.
  var serverName: String? {
    let values = fields.filter { $0.name.isSameHeaderName(as: "Content-Disposition") }
    guard values.count == 1, let value = values.first?.value else { return nil }
    let bytes = Array(value.utf8)
    if let disposition = ContentDisposition(parsing: bytes) { return disposition.filename }
    return MalformedDisposition(bytes).filename
  }
}
