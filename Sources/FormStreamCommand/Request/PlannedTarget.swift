import FormStreamPlatform
import FormStreamMultipart

/// A URL, and the file that is sent to it.
struct PlannedTarget {
  /// A file that is the complete body.
  struct Upload {
    let file: Argument
    /// How it was typed, for messages.
    let spelling: String
    /// Whether its name is added to a URL that ends in a slash.
    var namesURL = true
  }

  let url: URLArgument
  /// Nil if other flags make the body.
  let upload: Upload?

  init(_ url: URLArgument, _ upload: Upload? = nil) {
    self.upload = upload
    self.url =
      upload.map { $0.namesURL ? url.appendingName(of: $0.file) : url } ?? url
  }
}

extension LowArguments {
  /// Where requests go, in their order: as many as there are files.
  func targets(_ verb: Verb, notes: inout [String]) throws(Failure) -> [PlannedTarget] {
    let words = try sortedOperands(verb)
    let urls = try urls(words.urls, for: verb, notes: &notes)
    if let body = words.body {
      guard urls.count == 1, urls[0].count == 1, request.uploads.isEmpty, words.files.isEmpty else {
        throw .usage(
          "\(body.named("@FILE")) is the complete body of one request: leave out the others.")
      }
      return [PlannedTarget(urls[0][0], .init(file: body, spelling: "@FILE", namesURL: false))]
    }
    var groups: [[PlannedTarget.Upload]] = []
    for upload in request.uploads {
      groups.append(try names(in: upload).map { .init(file: $0, spelling: "-T") })
    }
    groups += words.files.map { [.init(file: $0, spelling: "a file")] }
    guard !groups.isEmpty else { return urls.flatMap(\.self).map { PlannedTarget($0) } }
    if urls.count == groups.count {
      var pairs: [PlannedTarget] = []
      for (url, group) in zip(urls, groups) { pairs += try targets(url, group) }
      return pairs
    }
    guard urls.count == 1 else {
      let count = groups.map(\.count).reduce(0, +)
      if count == urls.count,
        let (upload, group) = zip(request.uploads, groups).first(where: { $1.count > 1 })
      {
        throw .usage(
          "\(upload.named("-T")) stands for \(counted(group.count, "file", "files")): for \(counted(count, "URL", "URLs")), give each file a -T of its own, or give one URL that ends in /."
        )
      }
      throw .usage(
        "There \(count == 1 ? "is" : "are") \(counted(count, "file", "files")) and \(urls.count) URLs: give one URL that ends in / for all files, or one for each."
      )
    }
    return try targets(urls[0], groups.flatMap(\.self))
  }

  /// The files that a value of `-T` stands for.
  private func names(in upload: Argument) throws(Failure) -> [Argument] {
    guard !request.isGlobbingOff, upload.bytes.contains(where: "[{".utf8.contains),
      !exists(upload.path)
    else { return [upload] }
    do throws(CurlPattern.Fault) {
      return try CurlPattern.matches(of: upload.bytes, isURL: false)
        .map { Argument(bytes: $0.text, from: upload) }
    } catch {
      let (reason, remedy) =
        switch error {
        case .malformed:
          (
            "names no file that exists, and is no pattern",
            "write {a,b}, [1-9] or [a-z]; -g takes [ ] { } as they are"
          )
        case .tooMany:
          ("stands for more than \(CurlPattern.maximumCount) files", "send sends any number")
        case .tooLarge:
          ("has a range with a number that is too large", "-g takes [ ] { } as they are")
        }
      throw .usage("\(upload.named("-T")) \(reason): \(remedy).")
    }
  }

  /// Each file is sent to each of the URLs.
  private func targets(
    _ urls: [URLArgument], _ uploads: [PlannedTarget.Upload]
  ) throws(Failure) -> [PlannedTarget] {
    guard uploads.count == 1 || urls.allSatisfy(\.takesName) else {
      throw .usage(
        "Each of the \(counted(uploads.count, "file", "files")) would replace the one before at the same URL: end the URL with / to add their names to it, or give one for each."
      )
    }
    var targets: [PlannedTarget] = []
    var sent: [URLArgument: PlannedTarget.Upload] = [:]
    for upload in uploads {
      let own = urls.map { PlannedTarget($0, upload) }
      for url in Set(own.map(\.url)) {
        if let other = sent.updateValue(upload, forKey: url) {
          throw .usage(
            "The files \"\(other.file.shown)\" and \"\(upload.file.shown)\" would both be sent to one URL, and one would replace the other: give one URL for each."
          )
        }
      }
      targets += own
    }
    return targets
  }

  /// For each word the URLs that it stands for.
  private func urls(
    _ words: [Argument], for verb: Verb, notes: inout [String]
  ) throws(Failure) -> [[URLArgument]] {
    guard request.urlFile == nil, !words.isEmpty else {
      return [[try url(words.first, for: verb, notes: &notes)]]
    }
    var urls: [[URLArgument]] = []
    for word in words {
      var group: [URLArgument] = []
      for match in try matches(ofURL: word) {
        group.append(try URLArgument(Argument(bytes: match.text, from: word)))
      }
      urls.append(group)
    }
    return urls
  }

  /// The words that are URLs, those that are files, and the one that is `@FILE`.
  private func sortedOperands(
    _ verb: Verb
  ) throws(Failure) -> (urls: [Argument], files: [Argument], body: Argument?) {
    var (urls, files): ([Argument], [Argument]) = ([], [])
    var body: Argument?
    if operands.contains(where: \.bytes.isEmpty) { throw URLArgument.empty }
    for (index, word) in operands.enumerated() {
      if URLArgument.isURL(word) {
        urls.append(word)
      } else if body == nil, word.bytes.first == UInt8(ascii: "@") {
        body = Argument(bytes: word.bytes.dropFirst(), from: word)
      } else if exists(word.path) {
        guard verb == .put || !request.uploads.isEmpty else {
          throw .usage(
            "\(word.named("A word")) is a file: -F NAME=@FILE sends it in a form, and -T FILE as it is."
          )
        }
        files.append(word)
      } else {
        // It says that the scheme is missing, which is the likely reason in the last word if there is no other URL.
        if index == operands.count - 1, urls.isEmpty { _ = try URLArgument(word) }
        throw .usage(
          "\(word.named("A word")) is neither a URL nor a file that exists: check the path. "
            + (printsJSON
              ? "--json prints a record, and --json-body DATA sends JSON."
              : "-F NAME=VALUE adds a text field, and -F NAME=@FILE a file."))
      }
    }
    return (urls, files, body)
  }
}
