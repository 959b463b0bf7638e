import FormStreamMultipart
import FormStreamReceiver

/// The checked arguments of `receive`.
struct ReceivePlan {
  let configuration: Receiver.Configuration
  /// Where files are stored; nil if they are not.
  let directory: LocalPath?
  let keepsPaths: Bool
  let overwrites: Bool
  let synchronizes: Bool
  let isOnce: Bool
  let response: ChosenResponse
  let printsJSON: Bool
  let isQuiet: Bool
  let isVerbose: Bool
  /// Messages that are printed before the work starts.
  let notes: [String]
}

extension ReceivePlan {
  init(_ arguments: LowArguments, _ input: InputReader) throws(Failure) {
    let receiving = arguments.receiving
    var notes: [String] = []
    if let directory = arguments.directory, directory.bytes.isEmpty {
      throw .usage("--into needs the name of a directory.")
    }
    if arguments.directory == nil,
      receiving.keepsPaths || receiving.overwrites || receiving.synchronizes
    {
      throw .usage(
        "--keep-paths, --overwrite and --sync need --into DIR: without it, nothing is stored.")
    }
    let limitsUploads = receiving.maximumStore != nil || receiving.uploadAge != nil
    if limitsUploads, arguments.directory == nil {
      throw .usage("--max-store and --upload-age need --into DIR: without it, no upload is resumable.")
    }
    if limitsUploads, !receiving.isResumable {
      throw .usage(
        "--max-store and --upload-age are about resumable uploads, and --no-resumable allows none: leave one of them out.")
    }
    try Self.checkOverwriting(receiving, in: arguments.directory, arguments.files)
    var configuration = Receiver.Configuration()
    (configuration.address, configuration.port) = try receiving.listeningAddress()
    configuration.tls = try receiving.tlsIdentity()
    if let key = receiving.key, isReadableByOthers(key.path) {
      notes.append(
        "Other users can read the private key in \"\(key.shown)\" (--tls-key): prevent that with chmod 600."
      )
    }
    if case .tokenFile(let file) = arguments.request.credentials {
      configuration.token = try input.secretFile(file, for: "--token-file", &notes).token()
    }
    configuration.makesDigests = receiving.makesDigests
    if let directory = arguments.directory?.path, receiving.isResumable {
      configuration.resumableUploads = receiving.resumableUploads(in: directory)
    }
    let names = [userName(), hostName()].compactMap(\.self)
    configuration.page.owner = names.isEmpty ? nil : names.joined(separator: " on ")
    configuration.page.takesDirectories = receiving.keepsPaths
    configuration.limits.form.set(arguments.limits)
    configuration.escaping = arguments.form.escaping
    if let limit = arguments.limits[.body] {
      (configuration.limits.body, configuration.limits.urlEncodedBody) = (limit, limit)
    }
    if let rate = receiving.minimumRate { configuration.limits.minimumRate = rate }
    if let time = receiving.headTime { configuration.limits.headTime = time }
    if let time = receiving.responseTime { configuration.limits.responseTime = time }
    if let count = receiving.connections { configuration.limits.connections = count }
    if let count = receiving.connectionsPerAddress {
      configuration.limits.connectionsPerAddress = count
    }
    if arguments.directory == nil {
      notes.append("Nothing is stored: --into DIR names a directory for the files.")
    }
    if !configuration.isLoopbackOnly, configuration.token == nil {
      notes.append(
        "Everyone who can reach this machine can upload: --token-file FILE requires a token.")
    }
    if !configuration.isLoopbackOnly, configuration.token != nil, configuration.tls == nil {
      notes.append(
        "The token is sent without encryption: --tls-cert and --tls-key encrypt it, and the files."
      )
    }
    self.init(
      configuration: configuration, directory: arguments.directory?.path,
      keepsPaths: receiving.keepsPaths, overwrites: receiving.overwrites,
      synchronizes: receiving.synchronizes, isOnce: receiving.isOnce, response: receiving.response,
      printsJSON: arguments.printsJSON, isQuiet: arguments.request.isQuiet,
      isVerbose: arguments.request.isVerbose, notes: notes)
  }

  /// Fails if an upload could replace a file that the receiver itself reads or writes, because clients choose the names
  /// of uploaded files.
  private static func checkOverwriting(
    _ receiving: ReceivingArguments, in directory: Argument?, _ files: NamedFiles
  ) throws(Failure) {
    guard receiving.overwrites, let directory else { return }
    let place = canonical(directory.path)
    var own = files.inputs.map { (path: $0.path.path, use: $0.source) }
    if FileAtPath.standardOutput != nil { own.append(("/dev/stdout", "standard output")) }
    if FileAtPath.standardError != nil { own.append(("/dev/stderr", "standard error")) }
    for (path, use) in own {
      // An upload could replace a link in the directory, or the target of a link if the target is in the directory.
      let name = canonical(
        path.directory.bytes.isEmpty ? "." : LocalPath(bytes: path.directory.bytes))
      guard
        name.components(below: place) != nil || name == place
          || canonical(path).components(below: place) != nil
      else { continue }
      throw .usage(
        "With --overwrite, an upload could replace the file of \(use ?? "a flag"), which is in the directory of --into: move it, or name another directory."
      )
    }
  }
}

extension ReceivingArguments {
  fileprivate func resumableUploads(in directory: LocalPath) -> Receiver.ResumableUploads {
    var uploads = Receiver.ResumableUploads(in: directory)
    uploads.store = maximumStore
    if let uploadAge { uploads.age = uploadAge }
    return uploads
  }

  fileprivate func listeningAddress() throws(Failure) -> (address: String, port: UInt16) {
    let text = try listen.text(for: "--listen")
    let subject = listen.named("--listen")
    let colon = text.utf8.lastIndex(of: UInt8(ascii: ":"))
    let host = colon.map { text[..<$0] } ?? "127.0.0.1"
    let digits = colon.map { text[text.utf8.index(after: $0)...] } ?? text[...]
    let isNumber = digits.isASCIIDigits
    guard let port = UInt16(digits), isNumber else {
      if isNumber {
        throw .usage(
          "\(subject): a port is at most \(UInt16.max), and 0 is any free port.")
      }
      throw .usage(
        "\(subject) names no port: write ADDR:PORT, such as 127.0.0.1:8080; port 0 is any free port."
      )
    }
    if host.isEmpty { return ("::", port) }
    guard host == "localhost" || isAddress(host), host.contains(":") == host.hasPrefix("[") else {
      throw .usage(
        "\(subject) has no numeric address: write one such as 127.0.0.1:8080 or [::1]:8080, or "
          + ":8080 for all addresses.")
    }
    return (host.filter { $0 != "[" && $0 != "]" }, port)
  }

  fileprivate func tlsIdentity() throws(Failure) -> Receiver.TLSIdentity? {
    switch (certificate, key) {
    case (nil, nil): return nil
    case (let certificate?, let key?):
      return Receiver.TLSIdentity(
        certificate: try pem(certificate, "--tls-cert"), key: try pem(key, "--tls-key"))
    default:
      throw .usage("--tls-cert and --tls-key need each other: give both, or neither.")
    }
  }

  private func pem(_ file: Argument, _ flag: String) throws(Failure) -> String {
    let bytes = try readSmallFile(file.path, for: flag, limit: 1024 * 1024)
    guard let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) else {
      throw Failure(
        .noInput,
        "The file \"\(file.shown)\" of \(flag) is not PEM: it has bytes that are not text.")
    }
    return text
  }
}
