import FormStreamPlatform
import FormStreamHTTP

/// All files that a command reads and writes. No output may replace an input, or another output.
struct CommandFiles {
  /// All files that are read, except the files that patterns stand for.
  private let inputs: [NamedFiles.Input]
  private let outputs: [NamedOutput]
  /// The directories whose files are always read.
  private let readDirectories: [LocalPath]
  /// The operands of `send`, which may be directories; none if patterns choose the files in them.
  private let sentDirectories: [LocalPath]
  /// Whether hidden files of directories are read.
  private let includesHidden: Bool
  /// Whether anything but messages is printed.
  private let writesToStandardOutput: Bool

  init(_ arguments: LowArguments) {
    inputs = Self.inputs(of: arguments)
    outputs = arguments.files.outputs
    readDirectories = [arguments.request.session.tls.authoritiesDirectory].compactMap(\.self)
    let listing = arguments.listing
    // With patterns, only the listing knows which files are sent.
    let isListed =
      arguments.verb == .send && listing.includes.isEmpty && listing.excludes.isEmpty
    sentDirectories = isListed ? arguments.operands.map(\.path) : []
    includesHidden = listing.includesHidden
    writesToStandardOutput = Self.writesToStandardOutput(arguments)
  }

  /// Whether standard input is read for anything but flags.
  var includeStandardInput: Bool {
    inputs.contains { $0.path.isDash && !["-K", "--config"].contains($0.source) }
  }

  private static func inputs(of arguments: LowArguments) -> [NamedFiles.Input] {
    let (verb, request) = (arguments.verb, arguments.request)
    var inputs = arguments.files.inputs
    inputs += request.uploads.map { NamedFiles.Input(path: $0, source: "-T") }
    inputs += bodyFiles(of: arguments).map { NamedFiles.Input(path: $0, source: $0.flag) }
    inputs += arguments.operands.map { word in
      let isMarked = verb?.sends == true && word.bytes.first == UInt8(ascii: "@")
      return NamedFiles.Input(
        path: isMarked ? Argument(bytes: word.bytes.dropFirst(), from: word) : word)
    }
    guard let verb, Verb.requesting.contains(verb) else { return inputs }
    if request.usesNetrc, request.netrcFile == nil, let home = environmentVariable("HOME") {
      inputs.append(NamedFiles.Input(path: Argument("\(home)/.netrc"), source: "--netrc"))
    }
    for name in TLSSettings.variables {
      guard let path = environmentVariable(name), !path.isEmpty else { continue }
      inputs.append(NamedFiles.Input(path: Argument(path), source: name))
    }
    return inputs
  }

  /// The body files whose paths are only pieces of flag values.
  private static func bodyFiles(of arguments: LowArguments) -> [Argument] {
    var files = (arguments.request.data + arguments.request.queryData).compactMap(\.file)
    for part in arguments.form.parts.flatMap(\.withDescendants) {
      files += part.headerFiles
      if let path = part.path { files.append(path) }
    }
    return files
  }

  private static func writesToStandardOutput(_ arguments: LowArguments) -> Bool {
    let request = arguments.request
    switch arguments.verb {
    case .encode, .plan: return arguments.output?.isDash ?? true
    case .post, .put, .get:
      return arguments.printsJSON || arguments.downloading.outputs.isEmpty
        || request.writeOut != nil || request.headFile?.isDash == true
    case .send: return arguments.printsJSON || arguments.manifest.failed?.isDash == true
    default: return true
    }
  }

  /// Fails if an output would replace an input, or another output. Standard output, devices and FIFOs replace nothing.
  ///
  /// - Parameters:
  ///   - responses: the outputs whose paths only the plan of a request knows.
  ///   - downloads: the responses that are stored in partial files until they are complete, even if the server names
  ///     the files.
  ///   - uploads: the inputs that the plan expands from patterns.
  ///   - remedy: the advice for the user if two responses would be stored in one file.
  func check(
    _ responses: [NamedOutput] = [], downloads: [NamedOutput] = [], uploads: [Argument] = [],
    remedy: String = ""
  ) throws(Failure) {
    let inputs = inputs + uploads.map { NamedFiles.Input(path: $0) }
    let outputs = responses + outputs
    try checkStandardOutput(inputs, outputs)
    guard !outputs.isEmpty else { return }
    var read: [FileAtPath: [NamedFiles.Input]] = [:]
    for input in inputs {
      if let file = input.file { read[file, default: []].append(input) }
    }
    var partial: [LocalPath: NamedOutput] = [:]
    for download in downloads {
      for file in DownloadDestination.partialFiles(of: canonical(download.path)) {
        partial[file] = download
      }
    }
    var first: [LocalPath: NamedOutput] = [:]
    for output in outputs {
      switch try? OutputPlace(at: output.path) {
      case .standardOutput, .special: continue
      default: break
      }
      if let file = FileAtPath(at: output.path),
        let input = read[file]?.first(where: { !output.mayReplace($0) })
      {
        let reader = input.source.map { "\($0) reads" } ?? "is an input, too"
        throw .usage(
          "\(output.flag) would \(output.effect) the file \"\(output.path)\", which \(reader): choose another name."
        )
      }
      try checkDirectories(output)
      if output.isDirectory { continue }
      if let download = partial[canonical(output.path)] {
        throw .usage(
          "\(output.flag) would write the file \"\(output.path)\", which \(download.flag) uses for \"\(download.path)\" until that is complete: choose another name."
        )
      }
      guard let other = first.updateValue(output, forKey: canonical(output.path)) else { continue }
      throw .usage(
        output.isResponse && other.isResponse
          ? "Two responses would be stored in the file \"\(output.path)\": \(remedy)."
          : "\(other.flag) and \(output.flag) both write the file \"\(output.path)\": choose another name for one of them."
      )
    }
  }

  /// Fails if standard output is appended to a file that is read: the file would never end, or would be damaged.
  private func checkStandardOutput(
    _ inputs: [NamedFiles.Input], _ outputs: [NamedOutput]
  ) throws(Failure) {
    guard let output = FileAtPath.standardOutput,
      writesToStandardOutput || outputs.contains(where: \.isStandardOutput),
      let input = inputs.first(where: { !$0.mayBecomeResponse && $0.file == output })
    else { return }
    let owner = input.source.map { " of \($0)" } ?? ""
    throw .usage(
      "The file \"\(input.path.shown)\"\(owner) is also the standard output: write to another file."
    )
  }

  /// Fails if an output would replace a file in a directory that is sent, or in a directory of certificate authorities.
  private func checkDirectories(_ output: NamedOutput) throws(Failure) {
    // A file that lines are added to is made before the files are listed, so it would be sent.
    guard isRegularFile(output.path) || output.isAppended && !exists(output.path) else { return }
    let isKept = output.isCookieJar || output.isAppended
    let directories = readDirectories + (isKept ? sentDirectories : [])
    for directory in directories where isDirectory(directory) {
      guard let rest = canonical(output.path).components(below: canonical(directory)),
        includesHidden || !rest.contains(where: { $0.first == UInt8(ascii: ".") })
      else { continue }
      throw .usage(
        "\(output.flag) would \(output.effect) the file \"\(output.path)\" in the directory \"\(directory)\", which is read: choose another name."
      )
    }
  }
}

extension NamedFiles.Input {
  /// The file itself; nil if it is no regular file.
  fileprivate var file: FileAtPath? { path.isDash ? .standardInput : FileAtPath(at: path.path) }
}

extension LocalPath {
  /// The components of the path below a directory; nil if the path is not below it. Both paths have to be canonical.
  func components(below directory: LocalPath) -> ArraySlice<ArraySlice<UInt8>>? {
    let slash = UInt8(ascii: "/")
    let (own, other) = (bytes.split(separator: slash), directory.bytes.split(separator: slash))
    return own.count > other.count && own.starts(with: other) ? own.dropFirst(other.count) : nil
  }
}
