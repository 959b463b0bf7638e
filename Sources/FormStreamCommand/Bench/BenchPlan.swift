import FormStreamHTTP
import FormStreamMultipart

/// The checked arguments of `bench`.
struct BenchPlan {
  /// The server; nil for one of our own.
  let url: HTTPURL?
  /// The file to upload; nil for a sparse one of each size.
  let file: LocalPath?
  let sizes: [Int64]
  let count: Int
  let rounds: Int
  /// The programs, this one first.
  let contenders: [Contender]
  let plot: OutputTarget?
  let printsRecord: Bool
  let isQuiet: Bool
}

extension BenchPlan {
  init(_ arguments: LowArguments) throws(Failure) {
    let typed = arguments.benching
    var words = arguments.operands[...]
    url = try words.first.flatMap { word throws(Failure) in
      guard word.shown.contains("://") else { return nil }
      words.removeFirst()
      return try Self.url(word)
    }
    var contenders = [Contender.formstream]
    for argument in typed.programs {
      for name in argument.shown.split(separator: ",", omittingEmptySubsequences: false) {
        guard let known = Contender.known.first(where: { $0.name == name }) else {
          throw .usage(
            "\(argument.named("--with")) has a name that is not known: choose from "
              + "\(Contender.known.map(\.name).joined(separator: ", ")), or write a command after two hyphens.")
        }
        contenders.append(known)
      }
    }
    if !words.isEmpty {
      let command = try words.map { word throws(Failure) in try word.text(for: "The command") }
      guard command.contains(where: { $0.contains("{file}") }), command.contains(where: { $0.contains("{url}") })
      else {
        throw .usage(
          "The words after the flags are no URL, and no command with {url} and {file}: write -- curl -sS -T {file} {url}.")
      }
      contenders.append(.command(command))
    }
    self.contenders = contenders
    file = typed.file?.path
    if let argument = typed.file { _ = try argument.text(for: "--from") }
    guard file == nil || typed.sizes == nil else {
      throw .usage("--from names a file, which has its size: leave out --size.")
    }
    sizes = Set(typed.sizes ?? [1 << 30]).sorted()
    count = typed.count
    guard sizes.allSatisfy({ !$0.multipliedReportingOverflow(by: Int64(typed.count)).overflow }) else {
      throw .usage("--size times --count is too large: nothing has so many bytes.")
    }
    rounds = typed.rounds
    plot = try typed.plot.map { argument throws(Failure) in
      try OutputTarget(argument, of: "--plot", besideRecords: arguments.printsJSON)
    }
    printsRecord = arguments.printsJSON
    isQuiet = arguments.request.isQuiet
  }

  private static func url(_ word: Argument) throws(Failure) -> HTTPURL {
    let text = try word.text(for: "The URL")
    let url: HTTPURL
    do { url = try HTTPURL(text) } catch {
      throw .usage("\(word.named("The URL")) can't be used: \(error.description)")
    }
    guard url.credentials == nil, !url.namesUserOnly else {
      throw .usage(
        "\(word.named("The URL")) has a user, and the programs get it as a word that others on this machine can see: name a "
          + "server that needs none.")
    }
    return url
  }
}
