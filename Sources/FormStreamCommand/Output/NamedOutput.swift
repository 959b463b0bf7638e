import FormStreamMultipart

/// A file that a command writes, and the flag that names it.
struct NamedOutput {
  let flag: String
  let path: LocalPath

  /// Nil if the target is standard output.
  init?(_ flag: String, _ target: OutputTarget?) {
    guard let path = target?.path else { return nil }
    self.init(flag, path)
  }

  init(_ flag: String, _ path: LocalPath) {
    (self.flag, self.path) = (flag, path)
  }

  /// Whether it is the response to one of the requests.
  fileprivate var isResponse: Bool { ["-o", "-O"].contains(flag) }
}

extension LowArguments {
  /// Fails if an output would replace an input, which a later request may still send, or another output. Standard output,
  /// devices and FIFOs replace nothing.
  ///
  /// - Parameters:
  ///   - files: the inputs besides those of the flags that make a body.
  ///   - remedy: what to do if two responses would be in one file.
  func checkOutputs(
    _ outputs: [NamedOutput], inputs files: [Argument], remedy: String = ""
  ) throws(Failure) {
    guard !outputs.isEmpty else { return }
    let inputs = Set(
      (bodyFiles + files).compactMap { NamedFile(at: $0.isDash ? "/dev/stdin" : $0.path) })
    var first: [LocalPath: NamedOutput] = [:]
    for output in outputs {
      switch try? OutputPlace(at: output.path) {
      case .standardOutput, .special: continue
      default: break
      }
      if let file = NamedFile(at: output.path), inputs.contains(file) {
        throw .usage(
          "\(output.flag) would replace the file \"\(output.path)\", which is an input, too: choose another name."
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

  /// The files of `-c` and of what is printed besides responses.
  func outputs(besideResponses printing: PlannedPrinting?) -> [NamedOutput] {
    [
      NamedOutput("-D", printing?.headTarget),
      request.cookieJar.map { NamedOutput("-c", $0.path) },
    ].compactMap(\.self)
  }

  /// The files that flags make a body or a part of it from, without those of `-T`.
  private var bodyFiles: [Argument] {
    var files = (request.data + request.queryData).compactMap(\.file)
    files += request.json.compactMap { DataOrFile($0, of: "--json-body").file }
    for part in parts.flatMap(\.withDescendants) {
      files += part.headerFiles
      if let path = part.path { files.append(path) }
    }
    return files
  }
}
