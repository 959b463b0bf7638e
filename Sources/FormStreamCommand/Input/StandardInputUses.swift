/// The arguments that read standard input.
struct StandardInputUses {
  /// Names for messages, in the order of reading.
  private let names: [String]

  init(_ arguments: LowArguments) {
    names =
      arguments.form.parts.flatMap(\.leaves).filter(\.isStandardInput)
      .map { "part \"\($0.name)\"" }
      + Self.flags(of: arguments.request)
      + arguments.operands.filter { $0.bytes == Array("@-".utf8) }.map { _ in "@-" }
      + arguments.pathLists.filter(\.file.isDash).map { _ in "a list of files" }
      + (arguments.readsConfigFromStandardInput ? ["--config"] : [])
  }

  /// Fails if several arguments read standard input.
  func check() throws(Failure) {
    guard names.count < 2 else {
      throw .usage(
        "Standard input is named twice, for \(names[0]) and \(names[1]): it can be read once.")
    }
  }

  /// The flags that read standard input.
  private static func flags(of arguments: RequestArguments) -> [String] {
    var uses: [String] = []
    uses += arguments.uploads.filter(\.isDash).map { _ in "-T" }
    uses += arguments.json.filter { DataOrFile($0, of: "--json-body").file?.isDash ?? false }
      .map { $0.flag ?? "--json-body" }
    if let format = arguments.writeOut, DataOrFile(format, of: "-w").file?.isDash ?? false {
      uses.append("-w")
    }
    uses += arguments.queryData.filter(\.isStandardInput).map(\.flag)
    uses += arguments.data.filter(\.isStandardInput).map(\.flag)
    for case .file(let file) in arguments.headers where file.isDash {
      uses.append(file.flag ?? "--header-file")
    }
    if arguments.urlFile?.isDash == true { uses.append("--url-file") }
    if case .file(let file)? = arguments.passphrase, file.isDash { uses.append("--pass-file") }
    if case .userFile(let file)? = arguments.proxy.credentials, file.isDash {
      uses.append("--proxy-user-file")
    }
    switch arguments.credentials {
    case .userFile(let file) where file.isDash: uses.append("--user-file")
    case .tokenFile(let file) where file.isDash: uses.append("--token-file")
    default: break
    }
    if arguments.netrcFile?.isDash == true { uses.append("--netrc-file") }
    return uses
  }
}
