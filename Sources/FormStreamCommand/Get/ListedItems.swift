import FormStreamBatch
import FormStreamHTTP
import FormStreamMultipart
import FormStreamPlatform

/// The requests for the URLs of lists, which are made one by one.
struct ListedItems {
  private static let maximumNotes = 1000

  private let requests: GetRequests
  private let commandFiles: CommandFiles
  private let output: DownloadArguments.Output?
  private let isQuiet: Bool
  private var urls: ListedURLs
  private var number: Int
  private var files: TakenFiles
  /// The notes that are printed already.
  private var notes: [String]

  /// Checks the lists that can be read twice.
  ///
  /// - Parameters:
  ///   - items: the requests for the URLs on the command line.
  ///   - notes: the messages that are printed before the work starts.
  init(
    _ urls: ListedURLs, of lists: [PathList], _ requests: GetRequests, _ files: CommandFiles,
    after items: [GetPlan.Item], notes: [String]
  ) throws(Failure) {
    (self.requests, self.urls, number) = (requests, urls, items.count)
    (commandFiles, self.notes) = (files, notes)
    output = requests.downloading.namesLists ? .remoteName : nil
    isQuiet = requests.arguments.isQuiet
    self.files = try TakenFiles(items)
    // The check has its own set of files, because the run adds the same files again.
    var check = self
    (check.urls, check.files) = (ListedURLs(lists.filter(\.isRegularFile)), try TakenFiles(items))
    while let url = try check.urls.next() { _ = try check.item(for: url) }
  }

  /// The URL whose server the settings of the session are for. If there is no URL, nothing is requested, and any will do.
  static func firstURL(
    of urls: inout ListedURLs, _ request: RequestArguments, _ input: InputReader
  ) throws(Failure) -> HTTPURL {
    let first = try urls.peek()
    return try url(first ?? Argument("http://localhost"), request, input)
  }

  /// The next request, or why there can't be one for its line; nil after the last.
  ///
  /// - Throws: the failure of a list.
  mutating func next() throws(Failure) -> Result<GetPlan.Item, Failure>? {
    guard let url = try urls.next() else { return nil }
    defer { number += 1 }
    do throws(Failure) {
      let known = notes.count
      let item = try item(for: url)
      if !isQuiet { for note in notes[known...] { StandardError.note(note) } }
      return .success(item)
    } catch {
      // Something may have been done for other lines, so this is not a wrong command line any more.
      return .failure(Failure(.noInput, error.message))
    }
  }

  private mutating func item(for line: Argument) throws(Failure) -> GetPlan.Item {
    var added = notes
    let item = try requests.item(
      number, Self.url(line, requests.arguments, requests.input), output, &added)
    // There is a note for each server that gets credentials without encryption.
    if added.count <= Self.maximumNotes { notes = added }
    guard !requests.downloading.keepsExisting, let file = item.file else { return item }
    try requests.downloading.checkBeginning(of: file)
    try commandFiles.check([NamedOutput(DownloadArguments.Output.remoteName.flag, file)])
    guard try files.insert(file) else {
      throw .usage(
        "\(line.named("The URL")) would be stored in the file \"\(file)\", and so would an earlier URL: use -J or --no-clobber, which number them."
      )
    }
    return item
  }

  private static func url(
    _ line: Argument, _ request: RequestArguments, _ input: InputReader
  ) throws(Failure) -> HTTPURL {
    guard line.bytes.last != 0x0D else {
      throw .usage(
        "\(line.named("The URL")) ends with a CR, as in lists from Windows: remove those from the list, for example with dos2unix."
      )
    }
    do throws(Failure) {
      return try [HTTPURL]([URLArgument(line)], request, input)[0]
    } catch {
      let name = line.named("The URL")
      throw .usage(error.message.contains(name) ? error.message : "\(name): \(error.message)")
    }
  }
}

/// The files that responses go to. Their names are kept in bounded memory.
private struct TakenFiles {
  private let keys = SeenKeys(in: LocalPath(bytes: temporaryDirectory))
  /// The directory of the last file, and its path without links. Most files are in the same directory.
  private var last: (directory: [UInt8], canonical: [UInt8])?

  init(_ items: [GetPlan.Item]) throws(Failure) {
    for item in items {
      if let file = item.file { _ = try insert(file) }
    }
  }

  /// Adds a file. Returns false if it was added before.
  mutating func insert(_ file: LocalPath) throws(Failure) -> Bool {
    let directory = file.bytes.prefix(file.bytes.count - file.name.bytes.count)
    if last?.directory.elementsEqual(directory) != true {
      let path = directory.isEmpty ? "." : LocalPath(bytes: directory)
      last = (Array(directory), canonical(path).bytes + [UInt8(ascii: "/")])
    }
    let key = (last?.canonical ?? []) + file.name.bytes
    return try convertingErrors { () throws(BatchError) in try keys.insert(key) }
  }
}
