import FormStreamBatch
import FormStreamMultipart
import FormStreamPlatform

/// The command that sends a list of failed files: the command that was typed, with the list in place of the files.
struct NextCommand {
  private let words: [String]
  private let hasSecrets: Bool

  /// The flags about the files, which the list replaces.
  private static let dropped: Set<String> = [
    "failed", "manifest", "shard", "shards", "shard-base", "files-from", "files-from0", "include", "exclude", "hidden",
    "keep-going", "all", "checksum", "resume-only", "at-least",
  ]
  /// The flags whose values may be secrets. Messages get into logs.
  private static let secret: Set<String> = [
    "header", "user", "oauth2-bearer", "cookie", "proxy", "proxy-user", "pass", "form", "field", "part-header",
    "field-template", "query",
    "idempotency-key", "upload-metadata",
  ]

  /// - Parameter url: the URL, as messages name it; nil if a file names it.
  init(_ arguments: LowArguments, url: String?) throws(Failure) {
    let replaced = try Self.replacedFiles(arguments.configured)
    let spelledOut = arguments.configured.filter { $0.configurationFile.map(replaced.contains) ?? false }
    var parser = ArgumentParser(spelledOut + arguments.words)
    parser.verb = .send
    var (words, hasSecrets) = ([String](), false)
    while let item = try parser.next() {
      switch item {
      // The command itself, the URL, and the files.
      case .word: continue
      case .off(let flag):
        words.append(flag.long.hasPrefix("no-") ? "--\(flag.long.dropFirst(3))" : "--no-\(flag.long)")
      case .flag(let flag, let file) where flag.long == "config" && replaced.contains(ConfigFile.name(of: file)): continue
      // Without the digests of these files, the next nights would compare them by size and time.
      case .flag(let flag, _) where flag.long == "checksum": words.append("--sha256")
      case .flag(let flag, let value) where !Self.dropped.contains(flag.long):
        let isSecret = Self.secret.contains(flag.long) && !value.bytes.isEmpty
        hasSecrets = hasSecrets || isSecret
        let shown = isSecret ? "…" : Self.quoted(value.shown)
        switch flag.value {
        case nil: words.append("--\(flag.long)")
        case let kind? where kind.isOptional: words.append("--\(flag.long)" + (value.bytes.isEmpty ? "" : "=\(shown)"))
        case _?: words += ["--\(flag.long)", shown]
        }
      case .flag: continue
      }
    }
    if let url {
      // Masked values are not what was typed.
      let typed = arguments.operands.first?.text ?? ""
      let isMasked = typed.contains { "?@".contains($0) } && typed != url
      // With --put, the URL without its template would be another one. "…" is no URL.
      words.append(!arguments.sending.puts ? Self.quoted(url) : isMasked ? "…" : Self.quoted(typed))
      hasSecrets = hasSecrets || isMasked
    }
    (self.words, self.hasSecrets) = (words, hasSecrets)
  }

  /// The names of the configuration files that the next command can't read, so that their other flags are spelled out: files with
  /// flags about the files to send, and standard input.
  private static func replacedFiles(_ configured: [Argument]) throws(Failure) -> Set<String> {
    var replaced: Set<String> = [ConfigFile.name(of: Argument("-"))]
    for (name, flags) in Dictionary(grouping: configured, by: { $0.configurationFile ?? "" }) {
      var parser = ArgumentParser(flags)
      parser.verb = .send
      while let item = try parser.next() {
        if case .flag(let flag, _) = item, dropped.contains(flag.long) { replaced.insert(name) }
      }
    }
    return replaced
  }

  /// The line for a list.
  func line(sending list: LocalPath) -> String {
    let line = (["formstream", "send", "--manifest", Self.quoted(list.description)] + words).joined(separator: " ")
    return hasSecrets ? "\(line)  (What may be a secret is left out.)" : line
  }

  private static func quoted(_ word: String) -> String {
    let isPlain = word.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-_./:,=@%+".utf8.contains($0) } && !word.isEmpty
    return isPlain ? word : word.shellQuoted
  }
}

extension Argument {
  /// The name of the configuration file that has the argument; nil if it was typed.
  fileprivate var configurationFile: String? {
    if case .line(_, of: let name) = place { name } else { nil }
  }
}
