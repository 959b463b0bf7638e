import FormStreamMultipart
import FormStreamPlatform

/// A file of flags, one a line. Lines have no quotes or escapes, unless they are written as in a file of curl; see
/// `CurlConfigLine`.
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
      let contents = try contents(of: file)
      let name = file.isDash ? "standard input" : file.shown
      for (index, line) in contents.split(separator: 0x0A, omittingEmptySubsequences: false)
        .enumerated()
      {
        do throws(Failure) {
          let place = Argument.Place.line(index + 1, of: name)
          arguments += try self.flag(in: line, for: parser.verb).map {
            Argument(bytes: $0.bytes, place: place)
          }
        } catch {
          throw Failure(error.exit, "\(name):\(index + 1): \(error.message)")
        }
      }
    }
    return arguments
  }

  private static func contents(of file: Argument) throws(Failure) -> [UInt8] {
    guard file.isDash else {
      return try readSmallFile(file.path, for: "--config", limit: maximumSize)
    }
    do throws(SystemError) {
      let contents = try contentsOfStandardInput(upTo: maximumSize)
      if contents.count <= maximumSize { return contents }
    } catch {
      throw Failure(
        .noInput, "Standard input can't be read for --config: \(error). Redirect it with < or |.")
    }
    throw .usage("Standard input has more than \(maximumSize) bytes for --config.")
  }

  /// The arguments in a line: a flag and its value, or none.
  private static func flag(
    in line: ArraySlice<UInt8>, for verb: Verb?
  ) throws(Failure) -> [Argument] {
    let arguments = try self.arguments(in: line)
    var parser = ArgumentParser(arguments)
    parser.verb = verb
    guard let item = try parser.next() else {
      // None, or one of curl's that changes nothing.
      if arguments.first?.bytes != Array("--".utf8) { return [] }
      throw .usage("A flag has a name after its hyphens.")
    }
    guard case .flag(let flag, _) = item, try parser.next() == nil else {
      throw .usage(
        "The line is not one flag: write --NAME or --NAME VALUE, such as --boundary B.")
    }
    if flag.long == "config" { throw .usage("--config can't be used in a configuration file.") }
    return arguments
  }

  private static func arguments(in line: ArraySlice<UInt8>) throws(Failure) -> [Argument] {
    var line = line
    // The file may come from a system whose lines end with CRLF.
    if line.last == 0x0D { line.removeLast() }
    line = line.drop(while: \.isBlank)
    guard let first = line.first, first != UInt8(ascii: "#") else { return [] }
    if let line = try CurlConfigLine(line) { return line.arguments }
    let name = line.prefix { !$0.isBlank && $0 != UInt8(ascii: "=") }
    let rest = line.dropFirst(name.count)
    let isSeparated = rest.first?.isBlank ?? false
    // "--flag=value" and "-Fvalue" are one argument, even if the value has blanks.
    guard isSeparated, name.count == 2 || name.starts(with: "--".utf8) else {
      return [Argument(bytes: line)]
    }
    let value = rest.drop(while: \.isBlank)
    return value.isEmpty
      ? [Argument(bytes: name)] : [Argument(bytes: name), Argument(bytes: value)]
  }
}
