import Multipart

/// A file of flags, one a line. Nothing in a line is quoted or escaped.
enum ConfigFile {
  /// More is not a list of flags.
  private static let maximumSize = 1024 * 1024

  /// The flags in the files that `--config` names among `typed`, in order.
  static func flags(namedIn typed: [Argument]) throws(Failure) -> [Argument] {
    var parser = ArgumentParser(typed)
    var arguments: [Argument] = []
    while let item = try parser.next() {
      guard case .flag(let flag, let file) = item, flag.long == "config" else { continue }
      let contents = try readSmallFile(file.path, for: "--config", limit: maximumSize)
      for (index, line) in contents.split(separator: 0x0A, omittingEmptySubsequences: false)
        .enumerated()
      {
        arguments += try self.arguments(in: line, place: "\(file.shown):\(index + 1)")
      }
    }
    return arguments
  }

  private static func arguments(
    in line: ArraySlice<UInt8>, place: String
  ) throws(Failure) -> [Argument] {
    var line = line
    // A file from another system may end its lines with CRLF.
    if line.last == 0x0D { line.removeLast() }
    line = line.drop(while: isBlank)
    guard let first = line.first, first != UInt8(ascii: "#") else { return [] }
    guard first == UInt8(ascii: "-") else {
      throw .usage("\(place): a line holds one flag and begins with a hyphen.")
    }

    let name = line.prefix { !isBlank($0) && $0 != UInt8(ascii: "=") }
    let flag = Flag.named(String(decoding: name.dropFirst(2), as: UTF8.self))
    if flag?.long == "config" {
      throw .usage("\(place): --config can't stand in a configuration file.")
    }
    guard name.count > 1, !name.elementsEqual("--".utf8) else {
      throw .usage("\(place): a flag has a name behind its hyphens.")
    }
    let behind = line.dropFirst(name.count)
    let isSeparated = behind.first.map(isBlank) ?? false
    // "--flag=value" and "-Fvalue" are one argument, whatever stands in the value.
    guard isSeparated, name.count == 2 || name.starts(with: "--".utf8) else {
      return [Argument(bytes: line)]
    }
    let value = behind.drop(while: isBlank)
    return value.isEmpty
      ? [Argument(bytes: name)] : [Argument(bytes: name), Argument(bytes: value)]
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09
  }
}
