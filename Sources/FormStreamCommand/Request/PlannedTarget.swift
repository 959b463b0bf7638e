import FormStreamHTTP
import FormStreamPlatform
import FormStreamMultipart

/// A URL, and the file that is sent to it.
struct PlannedTarget {
  /// A file that is the complete body.
  struct SentFile {
    let path: Argument
    /// How the file was typed, for messages.
    let spelling: String
    /// Whether the file's name is added to a URL that ends in a slash. To tus, such a URL is where uploads are created, and the
    /// name is sent in `Upload-Metadata`.
    var namesURL = true
  }

  let url: URLArgument
  /// Nil if other flags make the body.
  let file: SentFile?

  init(_ url: URLArgument, _ file: SentFile? = nil) {
    self.file = file
    self.url = file.map { $0.namesURL ? url.appendingName(of: $0.path) : url } ?? url
  }
}

extension [PlannedTarget] {
  /// The targets of the requests of `post` or `put`, in order. Each file has a target of its own, or several.
  init(
    _ verb: Verb, _ operands: [Argument], _ arguments: RequestArguments, printsRecord: Bool,
    _ input: InputReader, _ notes: inout [String]
  ) throws(Failure) {
    let words = try SortedOperands(
      operands, verb, hasUploads: !arguments.uploads.isEmpty, printsRecord: printsRecord)
    let urls = try Self.urls(words.urls, arguments, for: verb, input, &notes)
    if let body = words.body {
      guard urls.count == 1, urls[0].count == 1, arguments.uploads.isEmpty, words.files.isEmpty
      else {
        throw .usage(
          "\(body.named("@FILE")) is the complete body of one request: leave out the others.")
      }
      self = [PlannedTarget(urls[0][0], .init(path: body, spelling: "@FILE", namesURL: false))]
      return
    }
    let isTus = arguments.options.resumption.isTus
    var groups: [[PlannedTarget.SentFile]] = []
    for upload in arguments.uploads {
      let paths = try CurlPattern.files(upload, isGlobbingOff: arguments.isGlobbingOff)
      groups.append(paths.map { .init(path: $0, spelling: "-T", namesURL: !isTus) })
    }
    groups += words.files.map { [.init(path: $0, spelling: "a file", namesURL: !isTus)] }
    guard !groups.isEmpty else {
      self = urls.flatMap(\.self).map { PlannedTarget($0) }
      return
    }
    if urls.count == groups.count {
      self = []
      for (url, group) in zip(urls, groups) { self += try Self.targets(url, group) }
      return
    }
    guard urls.count == 1 else {
      let count = groups.map(\.count).reduce(0, +)
      if count == urls.count,
        let (upload, group) = zip(arguments.uploads, groups).first(where: { $1.count > 1 })
      {
        throw .usage(
          "\(upload.named("-T")) stands for \(counted(group.count, "file", "files")): for \(counted(count, "URL", "URLs")), give each file a -T of its own, or give one URL that ends in /."
        )
      }
      throw .usage(
        "There \(count == 1 ? "is" : "are") \(counted(count, "file", "files")) and \(urls.count) URLs: give one URL that ends in / for all files, or one for each."
      )
    }
    self = try Self.targets(urls[0], groups.flatMap(\.self))
  }

  /// Each file is sent to each of the URLs.
  private static func targets(
    _ urls: [URLArgument], _ files: [PlannedTarget.SentFile]
  ) throws(Failure) -> [PlannedTarget] {
    guard files.allSatisfy(\.namesURL) else {
      return files.flatMap { file in urls.map { PlannedTarget($0, file) } }
    }
    guard files.count == 1 || urls.allSatisfy(\.takesName) else {
      throw .usage(
        "Each of the \(counted(files.count, "file", "files")) would replace the one before at the same URL: end the URL with / to add their names to it, or give one for each."
      )
    }
    var targets: [PlannedTarget] = []
    var sent: [URLArgument: PlannedTarget.SentFile] = [:]
    for file in files {
      let own = urls.map { PlannedTarget($0, file) }
      for url in Set(own.map(\.url)) {
        if let other = sent.updateValue(file, forKey: url) {
          throw .usage(
            "The files \"\(other.path.shown)\" and \"\(file.path.shown)\" would both be sent to one URL, and one would replace the other: give one URL for each."
          )
        }
      }
      targets += own
    }
    return targets
  }

  /// The URLs that each word stands for.
  private static func urls(
    _ words: [Argument], _ arguments: RequestArguments, for verb: Verb, _ input: InputReader,
    _ notes: inout [String]
  ) throws(Failure) -> [[URLArgument]] {
    guard arguments.urlFile == nil, !words.isEmpty else {
      return [[try URLArgument(words.first, orIn: arguments.urlFile, for: verb, input, &notes)]]
    }
    var urls: [[URLArgument]] = []
    for word in words {
      var group: [URLArgument] = []
      for match in try CurlPattern.urls(word, isGlobbingOff: arguments.isGlobbingOff) {
        group.append(try URLArgument(Argument(bytes: match.text, from: word)))
      }
      urls.append(group)
    }
    return urls
  }
}

/// The words of `post` and `put` that are not flags.
private struct SortedOperands {
  private(set) var urls: [Argument] = []
  private(set) var files: [Argument] = []
  /// The file of `@FILE`.
  private(set) var body: Argument?

  init(
    _ operands: [Argument], _ verb: Verb, hasUploads: Bool, printsRecord: Bool
  ) throws(Failure) {
    if operands.contains(where: \.bytes.isEmpty) { throw URLArgument.empty }
    for (index, word) in operands.enumerated() {
      if URLArgument.isURL(word) {
        urls.append(word)
      } else if body == nil, word.bytes.first == UInt8(ascii: "@") {
        body = Argument(bytes: word.bytes.dropFirst(), from: word)
      } else if exists(word.path) {
        guard verb == .put || hasUploads else {
          throw .usage(
            "\(word.named("A word")) is a file: -F NAME=@FILE sends it in a form, and -T FILE as it is."
          )
        }
        files.append(word)
      } else {
        // If there is no URL yet, the last word is probably a URL without a scheme. This failure says so.
        if index == operands.count - 1, urls.isEmpty { _ = try URLArgument(word) }
        throw .usage(
          "\(word.named("A word")) is neither a URL nor a file that exists: check the path. "
            + (printsRecord
              ? "--json prints a record, and --json-body DATA sends JSON."
              : "-F NAME=VALUE adds a text field, and -F NAME=@FILE a file."))
      }
    }
  }
}
