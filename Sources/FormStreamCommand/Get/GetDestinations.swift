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
  ///   - isListed: whether the URL is from a list. Then `-o` can't name its file.
  init(
    _ output: DownloadArguments.Output?, of url: HTTPURL, _ downloading: DownloadArguments,
    isAsOnServer: Bool, printsRecord: Bool, isListed: Bool
  ) throws(Failure) {
    let namesByURL = downloading.namesAll || downloading.usesServerNames
    guard let output = output ?? (namesByURL ? .remoteName : nil) else {
      if downloading.resumes {
        throw .usage("-C - goes on with a file: name it with \(isListed ? "-O" : "-o or -O").")
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
      let name = try SafeName.bytes(
        atEndOf: url,
        remedy: isListed ? "leave it out of the list, and get it with -o" : SafeName.remedyWithoutName)
      self = isAsOnServer ? .directory(directory, .url) : .file(downloading.path(of: name))
    }
  }
}

extension GetPlan {
  /// Checks that no file is written twice, and that no output is an input. A file that the server names gets a number
  /// if its name is taken.
  static func check(
    _ items: [Item], _ sources: [DownloadSource], _ request: RequestArguments,
    _ downloading: DownloadArguments, _ files: CommandFiles, _ atOnce: Int
  ) throws(Failure) {
    var outputs: [NamedOutput] = []
    for (item, source) in zip(items, sources) {
      guard let file = item.file else { continue }
      try downloading.checkBeginning(of: file, isListed: false)
      if downloading.keepsExisting { continue }
      outputs.append(NamedOutput((source.output ?? .remoteName).flag, file))
    }
    let downloads =
      downloading.storesAsOnServer(request)
      ? zip(items, sources).compactMap(NamedOutput.init) : []
    try files.check(outputs, downloads: downloads, remedy: remedyForOneName(sources, request, downloading, atOnce))
    if request.responseLimit != nil, items.contains(where: { !$0.destination.isOutput }) {
      throw .usage(
        "--max-response limits the response's body in the record of --json: with -o, the complete body is written."
      )
    }
  }

  private static func remedyForOneName(
    _ sources: [DownloadSource], _ request: RequestArguments, _ downloading: DownloadArguments, _ atOnce: Int
  ) -> String {
    // -J does not name what -o names.
    let areNumbered =
      downloading.storesAsOnServer(request) && !downloading.skipsExisting
      && sources.contains { if case .file? = $0.output { false } else { true } }
    let numbering = atOnce > 1 ? ", or leave -j out and use -J, which numbers them" : ", or use -J, which numbers them"
    let remedy = "give each a name with -o" + (areNumbered ? numbering : "")
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
  ///
  /// - Parameter isListed: whether the URL is from a list. Then `-o` can't name its file.
  func checkBeginning(of file: LocalPath, isListed: Bool) throws(Failure) {
    guard let first = firstByte, case .file? = try? OutputPlace(at: file) else { return }
    throw .usage(
      "-C \(first) would append to the file \"\(file)\", which may be of another version than the server's: "
        + "use -C - to go on with what get has left, or store the rest "
        + (isListed ? "in another directory with --output-dir." : "under another name with -o.")
    )
  }

  /// Fails if several bodies would mix on standard output, or if the response from one URL would go there because `-O` was
  /// meant for all.
  func checkStandardOutput(
    _ items: [GetPlan.Item], _ sources: [DownloadSource], hasLists: Bool, _ atOnce: Int
  ) throws(Failure) {
    // As in curl, -O is for one URL. A list shows that several files are wanted.
    let unnamed = zip(items, sources).first { $0.destination.isOutput && $1.output == nil }?.0
    let missing = unnamed.map {
      "there is no -O or -o for \($0.request.url): --remote-name-all names a file for each URL that has none"
    }
    if atOnce > 1 {
      let remedy: String
      if let missing {
        remedy = outputs.isEmpty ? "--remote-name-all names a file for each" : missing
      } else if hasLists, !namesLists {
        remedy = "-O names a file for each URL of a list"
      } else if items.contains(where: \.destination.isOutput) {
        throw .usage(
          "-j receives several bodies at the same time, which would mix on standard output: name a file in place of -o -.")
      } else {
        return
      }
      throw .usage(
        "-j receives several bodies at the same time, which would mix on standard output: \(remedy), and --json prints records."
      )
    }
    if hasLists, namesLists, let missing {
      throw .usage(
        "The URLs of the list have files, and one of the command line would go to standard output: \(missing), and -o - prints it."
      )
    }
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
  /// Fails if bodies of requests at the same time could mix in what is no regular file.
  func checkAtOnce() throws(Failure) {
    guard case .file(let file) = destination, !destination.isFile, canonical(file) != "/dev/null"
    else { return }
    let remedy =
      place.line.map { "leave line \($0) out of the list" } ?? "name a regular file or /dev/null"
    throw .usage(
      "-j receives several bodies at the same time, and \"\(file)\" is not a regular file, in which they would mix: \(remedy), or leave -j out."
    )
  }

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
  static let remedyWithoutName = "name the file with -o"

  /// The name of a file for `-O`.
  static func bytes(
    atEndOf url: HTTPURL, remedy: String = remedyWithoutName
  ) throws(Failure) -> [UInt8] {
    guard !lastSegment(of: url).isEmpty else {
      throw .usage("The URL \(url) has no name at its end for -O: \(remedy).")
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
