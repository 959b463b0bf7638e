import FormStreamBatch
import FormStreamMultipart
import FormStreamPlatform

/// The command that sends a list of failed files: the command that was typed, with the list in place of the files.
struct NextCommand {
  private let words: [String]
  /// What may be a secret: flags, whose values are not shown, and "the URL". Messages end up in logs.
  private let secrets: [String]

  /// The flags about the files, which the list replaces.
  private static let dropped: Set<String> = [
    "failed", "manifest", "shard", "shards", "shard-base", "files-from", "files-from0", "include", "exclude", "hidden",
    "keep-going", "all", "resume-only", "at-least",
  ]

  init(_ arguments: LowArguments) throws(Failure) {
    var (words, secrets) = ([String](), [String]())
    let jar = arguments.request.cookieJar
    for item in try Self.items(of: arguments) {
      switch item {
      // The command itself, the URL, and the files.
      case .word: continue
      case .off(let flag):
        words.append(flag.long.hasPrefix("no-") ? "--\(flag.long.dropFirst(3))" : "--no-\(flag.long)")
      case .flag(let flag, let value):
        let secret = HiddenValue(of: flag, value, besideCookieJar: jar)
        if let secret, !secrets.contains(secret.description) { secrets.append(secret.description) }
        let shown = secret == nil ? Self.quoted(value.shown) : Self.leftOut
        switch flag.value {
        case nil: words.append("--\(flag.long)")
        case let kind? where kind.isOptional: words.append("--\(flag.long)" + (value.bytes.isEmpty ? "" : "=\(shown)"))
        case _?: words += ["--\(flag.long)", shown]
        }
      }
    }
    // The first word is the URL, unless a file names it.
    if arguments.request.urlFile == nil, let typed = arguments.operands.first {
      // "***" would be sent as it is.
      let isMasked = typed.shown.hidingSecretsOfInvalidURL != typed.shown
      words.append(isMasked ? Self.leftOut : Self.quoted(typed.shown))
      if isMasked { secrets.append("the URL") }
    }
    (self.words, self.secrets) = (words, secrets)
  }

  /// The arguments that the next command needs, too. A switch that was turned off is left out.
  private static func items(of arguments: LowArguments) throws(Failure) -> [ArgumentParser.Item] {
    let spellsOut = try needsFlagsOfFiles(arguments)
    var parser = ArgumentParser((spellsOut ? arguments.configured : []) + arguments.words)
    parser.verb = .send
    var items: [ArgumentParser.Item] = []
    while let item = try parser.next() {
      switch item {
      case .word: continue
      case .off(let off):
        items.removeAll { item in if case .flag(let flag, _) = item { flag.long == off.long } else { false } }
      case .flag(let flag, _) where flag.long == "config" && spellsOut: continue
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

  /// Whether the next command can't read the configuration files: one has flags about the files to send, or is standard input. The
  /// flags of all configuration files are then spelled out. If only some were, they would come after those of the other files, and
  /// the last of several flags counts.
  private static func needsFlagsOfFiles(_ arguments: LowArguments) throws(Failure) -> Bool {
    if arguments.readsConfigFromStandardInput { return true }
    var parser = ArgumentParser(arguments.configured)
    parser.verb = .send
    while let item = try parser.next() {
      guard case .flag(let flag, _) = item else { continue }
      if dropped.contains(flag.long) || flag.long == "checksum" { return true }
    }
    return false
  }

  /// What to fill in before the command is run; nil if the command is complete.
  var lineAboutSecrets: String? {
    if secrets.isEmpty { return nil }
    return "The next command leaves out what may be a secret (\(Self.leftOut)): \(secrets.joined(separator: ", "))."
  }

  /// The line for a list. A shell refuses it as long as a secret is left out.
  func line(sending list: LocalPath) -> String {
    (["formstream", "send", "--manifest", Self.quoted(list.description)] + words).joined(separator: " ")
  }

  /// What stands for a secret. It is a syntax error in sh, bash and zsh, wherever it stands in a line. As a word, it would be sent,
  /// or be the name of a cookie file; `<left-out>` would read a file of that name and write to the next word.
  private static let leftOut = "<|left-out|>"

  private static func quoted(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-_./:,=@%+".utf8.contains($0) } && !word.isEmpty
    return isPlain ? word : word.shellQuoted
  }
}

extension ArgumentParser.Item {
  fileprivate func isFlag(_ name: String) -> Bool { if case .flag(let flag, _) = self { flag.long == name } else { false } }
}
