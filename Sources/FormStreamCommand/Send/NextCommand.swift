import FormStreamBatch
import FormStreamMultipart
import FormStreamPlatform

/// The command that sends a list of failed files: the command that was typed, with the list in place of the files.
struct NextCommand {
  private let words: [String]
  /// What is left out of the words, because messages get into logs.
  private let secrets: [String]

  /// The flags about the files, which the list replaces.
  private static let dropped: Set<String> = [
    "failed", "manifest", "shard", "shards", "shard-base", "files-from", "files-from0", "include", "exclude", "hidden",
    "keep-going", "all", "resume-only", "at-least",
  ]

  init(_ arguments: LowArguments) throws(Failure) {
    var (words, secrets) = ([String](), [String]())
    for item in try Self.items(of: arguments) {
      switch item {
      // The command itself, the URL, and the files.
      case .word: continue
      case .off(let flag):
        words.append(flag.long.hasPrefix("no-") ? "--\(flag.long.dropFirst(3))" : "--no-\(flag.long)")
      case .flag(let flag, let value):
        let secret = HiddenValue(of: flag, value)
        if let secret, !secrets.contains(secret.description) { secrets.append(secret.description) }
        let shown = secret == nil ? Self.quoted(value.shown) : "…"
        switch flag.value {
        case nil: words.append("--\(flag.long)")
        case let kind? where kind.isOptional: words.append("--\(flag.long)" + (value.bytes.isEmpty ? "" : "=\(shown)"))
        case _?: words += ["--\(flag.long)", shown]
        }
      }
    }
    // The first word is the URL, unless a file names it.
    if arguments.request.urlFile == nil, let typed = arguments.operands.first {
      // "***" would be sent as it is, and "…" is no URL.
      let isMasked = typed.shown.hidingSecretsOfInvalidURL != typed.shown
      words.append(isMasked ? "…" : Self.quoted(typed.shown))
      if isMasked { secrets.append("the URL") }
    }
    (self.words, self.secrets) = (words, secrets)
  }

  /// What was typed and holds for the list, too. A switch that was turned off is as if it had not been typed.
  private static func items(of arguments: LowArguments) throws(Failure) -> [ArgumentParser.Item] {
    let replaced = try replacedFiles(arguments.configured)
    let spelledOut = arguments.configured.filter { $0.configurationFile.map(replaced.contains) ?? false }
    var parser = ArgumentParser(spelledOut + arguments.words)
    parser.verb = .send
    var items: [ArgumentParser.Item] = []
    while let item = try parser.next() {
      switch item {
      case .word: continue
      case .off(let off):
        items.removeAll { item in if case .flag(let flag, _) = item { flag.long == off.long } else { false } }
      case .flag(let flag, let file) where flag.long == "config" && replaced.contains(ConfigFile.name(of: file)): continue
      case .flag: break
      }
      items.append(item)
    }
    // Without the digests of these files, the next nights would compare them by size and time.
    let comparesContents = items.contains { $0.isFlag("checksum") }
    let (checksum, digest) = ("checksum", "sha256")
    var hasDigests = false
    return items.compactMap { item in
      switch item {
      case .off(let flag) where dropped.contains(flag.long) || flag.long == checksum: return nil
      case .off(let flag) where flag.long == digest && comparesContents: return nil
      case .flag(let flag, _) where dropped.contains(flag.long): return nil
      case .flag(let flag, let value) where flag.long == checksum || flag.long == digest:
        guard !hasDigests, let flag = Flag.named(digest, for: .send) else { return nil }
        hasDigests = true
        return .flag(flag, value)
      default: return item
      }
    }
  }

  /// The names of the configuration files that the next command can't read, so that their other flags are spelled out: files with
  /// flags about the files to send, and standard input.
  private static func replacedFiles(_ configured: [Argument]) throws(Failure) -> Set<String> {
    var replaced: Set<String> = [ConfigFile.name(of: Argument("-"))]
    for (name, flags) in Dictionary(grouping: configured, by: { $0.configurationFile ?? "" }) {
      var parser = ArgumentParser(flags)
      parser.verb = .send
      while let item = try parser.next() {
        guard case .flag(let flag, _) = item else { continue }
        if dropped.contains(flag.long) || flag.long == "checksum" { replaced.insert(name) }
      }
    }
    return replaced
  }

  /// The line for a list. What a shell reads as a comment may be pasted with it.
  func line(sending list: LocalPath) -> String {
    let line = (["formstream", "send", "--manifest", Self.quoted(list.description)] + words).joined(separator: " ")
    if secrets.isEmpty { return line }
    return "\(line)  # What may be a secret is left out (…): \(secrets.joined(separator: ", "))."
  }

  private static func quoted(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-_./:,=@%+".utf8.contains($0) } && !word.isEmpty
    return isPlain ? word : word.shellQuoted
  }
}

extension ArgumentParser.Item {
  fileprivate func isFlag(_ name: String) -> Bool { if case .flag(let flag, _) = self { flag.long == name } else { false } }
}

extension Argument {
  /// The name of the configuration file that has the argument; nil if it was typed.
  fileprivate var configurationFile: String? {
    if case .line(_, of: let name) = place { name } else { nil }
  }
}
