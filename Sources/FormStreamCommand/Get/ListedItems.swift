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
    for list in lists { try list.checkIfMissing() }
    // The check has its own set of files, because the run adds the same files again.
    var check = self
    (check.urls, check.files) = (ListedURLs(lists.filter(\.isRegularFile)), try TakenFiles(items))
    var wrong = WrongLines()
    while let url = try check.urls.next() {
      do throws(Failure) { _ = try check.item(for: url) } catch { try wrong.add(url, error) }
    }
    if let failure = wrong.failure { throw failure }
  }

  /// The URL whose server the settings of the session are for; nil if there is no URL, so that nothing is requested.
  static func firstURL(
    of urls: inout ListedURLs, _ request: RequestArguments, _ input: InputReader
  ) throws(Failure) -> HTTPURL? {
    // A line of a pipe that is no URL is reported when its turn comes, and the others are received.
    while let line = try urls.peek() {
      if let url = try? Self.url(line, request, input) { return url }
    }
    return nil
  }

  /// A URL for settings that are used for no request.
  static func anyURL(_ request: RequestArguments, _ input: InputReader) throws(Failure) -> HTTPURL {
    try url(Argument("http://localhost"), request, input)
  }

  /// What a line of a list is.
  enum Read {
    case item(GetPlan.Item)
    /// Why there can't be a request for the line.
    ///
    /// - Parameter url: the URL; nil if the line is none.
    case badLine(RequestPlace, url: HTTPURL?, Failure)
    /// Nothing follows: the lists have ended, or can't be read any further.
    case end(Failure?)
  }

  /// Reads the next line.
  mutating func nextRead() -> Read {
    let url: Argument
    do throws(Failure) {
      guard let next = try urls.next() else { return .end(nil) }
      url = next
    } catch {
      return .end(error)
    }
    defer { number += 1 }
    do throws(Failure) {
      let known = notes.count
      let item = try item(for: url)
      if !isQuiet { for note in notes[known...] { StandardError.note(note) } }
      return .item(item)
    } catch {
      // Something may have been done for other lines, so this is not a wrong command line any more.
      return .badLine(
        place(of: url), url: try? Self.url(url, requests.arguments, requests.input),
        Failure(.noInput, error.message, code: error.code))
    }
  }

  private func place(of line: Argument) -> RequestPlace {
    guard case .line(let number, let list)? = line.place else { return RequestPlace(index: self.number) }
    return RequestPlace(index: self.number, list: list, line: number)
  }

  private mutating func item(for line: Argument) throws(Failure) -> GetPlan.Item {
    var added = notes
    let item = try requests.item(
      place(of: line), Self.url(line, requests.arguments, requests.input), output, &added)
    // There is a note for each server that gets credentials without encryption.
    if added.count <= Self.maximumNotes { notes = added }
    if requests.atOnce > 1 { try item.checkAtOnce() }
    guard !requests.downloading.keepsExisting, let file = item.file else { return item }
    try requests.downloading.checkBeginning(of: file, isListed: true)
    try commandFiles.check([NamedOutput(DownloadArguments.Output.remoteName.flag, file)])
    guard try files.insert(file) else {
      throw .nameIsTaken(
        file, for: line.named("The URL"),
        requests.downloading.remedyForTakenNames(requests.arguments, requests.atOnce, isListed: true))
    }
    return item
  }

  private static func url(
    _ line: Argument, _ request: RequestArguments, _ input: InputReader
  ) throws(Failure) -> HTTPURL {
    let name = line.named("The URL")
    if let flaw = flaw(of: line.bytes) { throw invalidURL("\(name) \(flaw)") }
    do throws(Failure) {
      return try [HTTPURL]([URLArgument(line)], request, input)[0]
    } catch {
      throw invalidURL(error.message.contains(name) ? error.message : "\(name): \(error.message)")
    }
  }

  private static func invalidURL(_ message: String) -> Failure {
    Failure(.usage, message, code: .invalidURL)
  }

  /// What is wrong with a line that people write in lists of other programs, and what to do; nil if it is something else.
  private static func flaw(of line: [UInt8]) -> String? {
    let blanks = [UInt8(ascii: " "), UInt8(ascii: "\t")]
    guard let first = line.first, let last = line.last else { return nil }
    if last == UInt8(ascii: "\r") {
      return "ends with a CR, as in lists from Windows: remove those from the list, for example with dos2unix."
    }
    if line.starts(with: "\u{FEFF}".utf8) {
      return "begins with a byte order mark: save the list without one."
    }
    if first == UInt8(ascii: "#") {
      return "begins with #, and a list has no comments: leave the line out, for example with grep -v '^#'."
    }
    if blanks.contains(first) || blanks.contains(last) {
      return "has blanks before or after it: write one URL a line, and nothing else."
    }
    return nil
  }
}
