import FormStreamMultipart
import FormStreamPlatform

/// A configuration file: flags, one on each line. Lines have no quotes or escapes, unless they are written as in curl's
/// configuration files; see `CurlConfigLine`.
enum ConfigFile {
  /// A larger file is a mistake.
  private static let maximumSize = 1024 * 1024

  /// The flags in the files that `--config` names among `typed`, in order.
  static func flags(namedIn typed: [Argument]) throws(Failure) -> [Argument] {
    var parser = ArgumentParser(typed)
    var arguments: [Argument] = []
    while let item = try parser.next() {
      if case .word(let word) = item { parser.verb = parser.verb ?? Verb(rawValue: word.shown) }
      guard case .flag(let flag, let file) = item, flag.long == "config" else { continue }
      var contents = try contents(of: file)[...]
      // Editors on other systems begin a file with a byte order mark.
      if contents.starts(with: [0xEF, 0xBB, 0xBF]) { contents = contents.dropFirst(3) }
      let name = Self.name(of: file)
      for (index, line) in contents.split(separator: 0x0A, omittingEmptySubsequences: false)
        .enumerated()
      {
        do throws(Failure) {
          let place = Argument.Place.line(index + 1, of: name)
          arguments += try self.flags(in: line, for: parser.verb).map {
            Argument(bytes: $0.bytes, place: place)
          }
        } catch {
          throw Failure(error.exit, "\(name):\(index + 1): \(error.message)")
        }
      }
    }
    return arguments
  }

  /// What messages call the file that a value of `--config` names.
  static func name(of file: Argument) -> String { file.isDash ? "standard input" : file.shown }

  private static func contents(of file: Argument) throws(Failure) -> [UInt8] {
    guard file.isDash else {
      return try readSmallFile(file.path, for: "--config", limit: maximumSize)
    }
    if isTerminal(.input) { StandardError.note(InputReader.keyboardNote) }
    do throws(SystemError) {
      let contents = try contentsOfStandardInput(upTo: maximumSize)
      if contents.count <= maximumSize { return contents }
    } catch {
      throw Failure(
        .noInput, "Standard input can't be read for --config: \(error). Redirect it with < or |.")
    }
    throw .usage("Standard input has more than \(maximumSize) bytes for --config.")
  }

  /// The arguments in a line: a flag and its value, switches, or none.
  private static func flags(
    in line: ArraySlice<UInt8>, for verb: Verb?
  ) throws(Failure) -> [Argument] {
    let arguments = try self.arguments(in: line, for: verb)
    var parser = ArgumentParser(arguments)
    parser.verb = verb
    var count = 0
    while let item = try parser.next() {
      count += 1
      switch item {
      case .word(let word): throw failure(about: word, after: parser.used.last?.spelled, for: verb)
      case .flag(let flag, _) where flag.long == "config":
        throw .usage("--config can't be used in a configuration file.")
      case .flag(let flag, let value) where flag.value?.isOptional == false && arguments.count > 2:
        throw .usage(
          "\(value.flag ?? "--\(flag.long)") has a value: write it in a line of its own.")
      case .flag, .off: break
      }
    }
    // The parser returns no item for a flag of curl that changes nothing.
    if count == 0, arguments.first?.bytes == Array("--".utf8) {
      throw .usage("A flag has a name after its hyphens.")
    }
    return arguments
  }

  /// The failure for a line with a word that is not part of a flag. The word is not shown, because it may be a secret.
  ///
  /// - Parameter flag: the flag before the word, as it was typed.
  private static func failure(about word: Argument, after flag: String?, for verb: Verb?) -> Failure {
    if let flag {
      return .usage(
        "\(flag) takes no value: leave out what follows it, or give it a line of its own.")
    }
    if URLArgument.isURL(word) { return .usage("The line is a URL: write url = \"URL\".") }
    let name = String(
      decoding: word.bytes.prefix { !$0.isBlank && $0 != UInt8(ascii: "=") }, as: UTF8.self)
    return .usage(
      "The line does not begin with the name of a flag: write --NAME or --NAME VALUE."
        + Suggestion.text(forFlag: name, of: verb))
  }

  private static func arguments(
    in line: ArraySlice<UInt8>, for verb: Verb?
  ) throws(Failure) -> [Argument] {
    var line = line
    // The file may come from a system whose lines end with CRLF.
    if line.last == 0x0D { line.removeLast() }
    line = line.drop(while: \.isBlank)
    guard let first = line.first, first != UInt8(ascii: "#") else { return [] }
    if let line = try CurlConfigLine(line) { return line.arguments }
    let name = line.prefix { !$0.isBlank && $0 != UInt8(ascii: "=") }
    let rest = line.dropFirst(name.count)
    let value = rest.drop(while: \.isBlank)
    // "--flag=value" is one argument, even if the value has blanks.
    guard first == UInt8(ascii: "-"), value.count < rest.count || rest.isEmpty else {
      return [Argument(bytes: line)]
    }
    guard !value.isEmpty else { return [Argument(bytes: name)] }
    let pair = [Argument(bytes: name), Argument(bytes: value)]
    // The text after the name may be another switch, or a value that begins with a hyphen.
    let next = value.first == UInt8(ascii: "-") ? Argument("x") : pair[1]
    var parser = ArgumentParser([pair[0], next])
    parser.verb = verb
    var hasValue = false
    while let item = try parser.next() {
      switch item {
      case .flag(let flag, _): hasValue = flag.value?.isOptional == false
      case .off: hasValue = false
      case .word:
        // "-Fvalue" is one argument, too. After a switch, other words may follow.
        return hasValue
          ? [Argument(bytes: line)]
          : [Argument(bytes: name)]
            + value.split(whereSeparator: \.isBlank).map { Argument(bytes: $0) }
      }
    }
    return pair
  }
}
