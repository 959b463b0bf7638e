/// A URL of `get`, and the flag that says where its response goes.
struct DownloadSource {
  let url: URLArgument
  /// Nil if there is no flag for this URL.
  let output: DownloadArguments.Output?
}

extension [DownloadSource] {
  /// The URLs in the order of the operands. A pattern is replaced by the URLs that it stands for.
  init(
    _ operands: [Argument], _ request: RequestArguments, _ downloading: DownloadArguments,
    hasLists: Bool, _ input: InputReader, _ notes: inout [String]
  ) throws(Failure) {
    let outputs = downloading.outputs
    let count = request.urlFile == nil ? operands.count : 1
    guard count > 0 || hasLists else {
      throw .usage("Name the URL to get: formstream get [FLAG]... https://example.org/path.")
    }
    if hasLists {
      for case .file(let name) in outputs.dropFirst(count) {
        throw .usage(
          "\(name.named("-o")) names one file, and a list has any number of URLs: -O and -J name a file for each, and --output-dir its directory."
        )
      }
    } else if outputs.count > count {
      notes.append(
        "-o and -O are given \(outputs.count) times, and there \(count == 1 ? "is one URL" : "are \(count) URLs"): the rest of them are not used."
      )
    }
    if let file = request.urlFile {
      if hasLists {
        throw .usage("\(file.named("--url-file")) names the URL: leave it out, or leave out the list of URLs.")
      }
      let url = try URLArgument(operands.first, orIn: file, for: .get, input, &notes)
      self = [DownloadSource(url: url, output: outputs.first)]
      return
    }
    self = []
    for (index, operand) in operands.enumerated() {
      let output = index < outputs.count ? outputs[index] : nil
      if !URLArgument.isURL(operand), exists(operand.path) {
        throw .usage(
          "\(operand.named("The URL")) is a file: -o FILE names the file for a response, and formstream put FILE URL sends a file."
        )
      }
      for match in try CurlPattern.urls(operand, isGlobbingOff: request.isGlobbingOff) {
        let url = Argument(bytes: match.text, from: operand)
        append(
          DownloadSource(
            url: try Self.url(url, after: downloading.digestArguments),
            output: output?.numbered(by: match.choices)))
      }
    }
  }

  /// - Parameter digests: the values of `--sha256`.
  private static func url(
    _ operand: Argument, after digests: [Argument]
  ) throws(Failure) -> URLArgument {
    do throws(Failure) {
      return try URLArgument(operand)
    } catch {
      // Without quotes, `$(cat FILE)` becomes two words: the digest, and the name of the file that it is for.
      guard case .word(let place)? = operand.place,
        let digest = digests.first(where: { $0.place == .word(place - 1) })
      else { throw error }
      throw .usage(
        "\(operand.named("The word")) after the digest of \(digest.named("--sha256")) is not a URL: if it belongs to the digest, quote it, as in --sha256 \"$(cat FILE)\"."
      )
    }
  }
}

extension DownloadArguments.Output {
  /// This output, with `#1` in its name replaced by the text that was chosen at the first place of the URL's pattern,
  /// `#2` by the text of the second place, and so on.
  fileprivate func numbered(by choices: [[UInt8]]) -> Self {
    guard case .file(let name) = self, !choices.isEmpty else { return self }
    var bytes: [UInt8] = []
    var rest = name.bytes[...]
    while let byte = rest.popFirst() {
      let digits = rest.prefix { (0x30...0x39).contains($0) }
      if byte == UInt8(ascii: "#"), let number = Int(String(decoding: digits, as: UTF8.self)),
        choices.indices.contains(number - 1)
      {
        bytes += choices[number - 1]
        rest = rest.dropFirst(digits.count)
      } else {
        bytes.append(byte)
      }
    }
    return .file(Argument(bytes: bytes, from: name))
  }
}
