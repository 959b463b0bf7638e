import FormStreamIntake
import FormStreamMultipart
import FormStreamPlatform
import FormStreamHTTP

extension GetPlan.Destination {
  /// Where a response goes.
  ///
  /// - Parameters:
  ///   - output: the flag for this URL; nil if there is none.
  ///   - isAsOnServer: whether the complete file is stored as it is on the server.
  init(
    _ output: DownloadArguments.Output?, of url: HTTPURL, _ downloading: DownloadArguments,
    isAsOnServer: Bool, printsRecord: Bool
  ) throws(Failure) {
    let namesByURL = downloading.namesAll || downloading.usesServerNames
    guard let output = output ?? (namesByURL ? .remoteName : nil) else {
      if downloading.resumes {
        throw .usage("-C - goes on with a file: name it with -o or -O.")
      }
      self = .output
      return
    }
    switch output {
    case .file(let argument) where argument.isDash:
      if printsRecord { throw DownloadArguments.twiceOnStandardOutput }
      if downloading.resumes {
        throw .usage("-C - goes on with a file, and -o - is standard output: name a file.")
      }
      self = .output
    case .file(let argument):
      guard !argument.bytes.isEmpty, !argument.bytes.contains(0) else {
        throw .usage("-o needs the name of a file, or - for standard output.")
      }
      self = .file(downloading.path(of: argument.bytes))
    case .remoteName:
      let directory = downloading.directory.map(\.path) ?? ""
      if downloading.usesServerNames {
        self = .directory(directory, .server)
        return
      }
      let name = try SafeName.bytes(atEndOf: url)
      self = isAsOnServer ? .directory(directory, .url) : .file(downloading.path(of: name))
    }
  }
}

extension GetPlan {
  /// Checks that no file is written twice, and that no output is an input. A file that the server names gets a number
  /// if its name is taken.
  static func check(
    _ items: [Item], _ sources: [DownloadSource], _ request: RequestArguments,
    _ downloading: DownloadArguments, _ files: CommandFiles
  ) throws(Failure) {
    var outputs: [NamedOutput] = []
    for (item, source) in zip(items, sources) {
      guard let file = item.file else { continue }
      try downloading.checkBeginning(of: file)
      if downloading.keepsExisting { continue }
      outputs.append(NamedOutput((source.output ?? .remoteName).flag, file))
    }
    let downloads =
      downloading.storesAsOnServer(request)
      ? zip(items, sources).compactMap(NamedOutput.init) : []
    try files.check(outputs, downloads: downloads, remedy: remedyForOneName(sources))
    if request.responseLimit != nil, items.contains(where: { !$0.destination.isOutput }) {
      throw .usage(
        "--max-response limits the response's body in the record of --json: with -o, the complete body is written."
      )
    }
  }

  private static func remedyForOneName(_ sources: [DownloadSource]) -> String {
    let remedy = "give each a name with -o, or use -J, which numbers them"
    for source in sources {
      // The placeholders of a pattern have already been replaced. A placeholder that is left stands for itself.
      guard case .file(let name)? = source.output,
        let mark = name.shown.firstPlaceholder
      else { continue }
      return "\(mark) stands for itself, because the URL has no such pattern; \(remedy)"
    }
    return remedy
  }
}

extension DownloadArguments {
  /// Fails if `-C N` would have to combine an existing file with bytes that may be of another version.
  func checkBeginning(of file: LocalPath) throws(Failure) {
    guard let first = firstByte, case .file? = try? OutputPlace(at: file) else { return }
    throw .usage(
      "-C \(first) would append to the file \"\(file)\", which may be of another version than the server's: "
        + "use -C - to go on with what get has left, or store the rest under another name with -o."
    )
  }
}

extension String {
  /// The first `#` with a number after it, such as `#1`; nil if there is none.
  fileprivate var firstPlaceholder: String? {
    for piece in utf8.split(separator: UInt8(ascii: "#"), omittingEmptySubsequences: false)
      .dropFirst()
    {
      let number = piece.prefix(while: \.isASCIIDigit)
      if !number.isEmpty { return "#\(Substring(number))" }
    }
    return nil
  }
}

extension NamedOutput {
  /// The file that a URL is downloaded to; nil if the response does not go to a regular file.
  fileprivate init?(_ item: GetPlan.Item, _ source: DownloadSource) {
    guard item.destination.isFile, let path = item.fileNamedByURL else { return nil }
    self.init((source.output ?? .remoteName).flag, path)
  }
}

extension GetPlan.Item {
  /// The file that gets the response; nil if there is no file, or if the server names the file.
  var file: LocalPath? {
    if case .directory(_, .server) = destination { return nil }
    return fileNamedByURL
  }

  /// Like `file`, but with the name at the end of the URL in place of the server's name: the partial file has the URL's
  /// name.
  fileprivate var fileNamedByURL: LocalPath? {
    switch destination {
    case .file(let path): return path
    case .directory(let directory, _):
      let name = SafeName(lastSegmentOf: request.url).numbered(1).bytes
      let slash = UInt8(ascii: "/")
      return LocalPath(bytes: directory.bytes + (directory.bytes.isEmpty ? [] : [slash]) + name)
    case .output: return nil
    }
  }
}

extension GetPlan.Destination {
  /// Whether the response goes to standard output, or into the record.
  var isOutput: Bool { if case .output = self { true } else { false } }

  /// Whether a regular file gets the response.
  var isFile: Bool {
    switch self {
    case .output: return false
    case .directory: return true
    case .file(let path):
      switch try? OutputPlace(at: path) {
      case .standardOutput, .special: return false
      default: return true
      }
    }
  }
}

extension SafeName {
  /// The name of a file for `-O`.
  static func bytes(atEndOf url: HTTPURL) throws(Failure) -> [UInt8] {
    guard !lastSegment(of: url).isEmpty else {
      throw .usage("The URL \(url) has no name at its end for -O: name the file with -o.")
    }
    return SafeName(lastSegmentOf: url).numbered(1).bytes
  }

  /// The name at the end of a URL, with percent codes decoded.
  init(lastSegmentOf url: HTTPURL) {
    let segment = Self.lastSegment(of: url)
    let decoded = String(validating: PercentDecoder.decoded(segment), as: UTF8.self)
    self.init(filename: decoded ?? String(Substring(segment)), field: "download")
  }

  /// The text after the last slash of a URL's path.
  static func lastSegment(of url: HTTPURL) -> Substring.UTF8View {
    // This compares bytes, because a delimiter and a combining mark after it are one `Character`.
    let path = url.absoluteString.utf8.prefix {
      $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#")
    }
    // The first three pieces are the scheme, an empty piece, and the host.
    return path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .dropFirst(3).last ?? ""[...].utf8
  }
}
