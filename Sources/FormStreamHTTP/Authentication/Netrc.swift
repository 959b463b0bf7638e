import FormStreamPlatform

/// The users and passwords of a netrc file, by host.
///
/// An entry is used only for the host that it names, without regard to case. A `default` entry would be for all hosts, and is
/// not used. Entries are used only if the request, its headers and its URL have no credentials. If the URL names a user and no
/// password, the entry of that user is used. After a redirect to another host, the entry of that host is used, and no other
/// credentials of the request are sent.
///
/// ```swift
/// configuration.netrc = try Netrc(parsing: String(contentsOfFile: path, encoding: .utf8))
/// ```
public struct Netrc: Sendable {
  private struct Entry: Sendable {
    let host: String
    var login: String?
    var password: String?
  }

  private let entries: Hidden<[Entry]>
  /// How the user and the password are sent.
  public var scheme = PasswordScheme.basic

  /// Parses the text of a file, by the rules of curl: words are separated by blanks and line breaks; a word may be in double
  /// quotes, in which `\"`, `\\`, `\n`, `\r` and `\t` are escapes; a word that begins with `#` begins a comment. A `macdef`
  /// ends at an empty line. `macdef`, `account` and `port` are not used. Other words are an error; curl skips them.
  ///
  /// - Throws: `netrcMalformed`, with the number of the line. The error shows no text of the file.
  public init(parsing text: String) throws(TransferError) {
    var words = NetrcWords(text)
    var entries: [Entry] = []
    var isUsed = false
    while let word = try words.next() {
      switch word.lowercased() {
      case "machine":
        entries.append(Entry(host: try words.value().lowercased()))
        isUsed = true
      case "default": isUsed = false
      case "login":
        let login = try words.value()
        if isUsed { entries[entries.count - 1].login = login }
      case "password":
        let password = try words.value()
        if isUsed { entries[entries.count - 1].password = password }
      case "account", "port": _ = try words.value()
      case "macdef":
        _ = try words.value()
        words.skipMacro()
      default: throw words.malformed
      }
    }
    self.entries = Hidden(entries)
  }

  /// The credentials for a host; nil if no entry has them.
  ///
  /// As with curl, an entry without a login applies to every user. If neither the entry nor `login` names a user, the user is
  /// empty. If no entry has a password, the last entry with a login is used, with an empty password.
  ///
  /// - Parameter login: the user that the entry must be for; nil for the first entry of the host.
  package func credentials(for host: String, login: String? = nil) -> Credentials? {
    let entries = self.entries(for: host).filter {
      login == nil || $0.login == nil || $0.login == login
    }
    let entry =
      entries.first { $0.password != nil } ?? entries.last { $0.login != nil }
    guard let entry else { return nil }
    return .basic(user: login ?? entry.login ?? "", password: entry.password ?? "").using(scheme)
  }

  /// Whether an entry is for a host, even if it has neither a user nor a password.
  package func hasEntry(for host: String) -> Bool { !entries(for: host).isEmpty }

  private func entries(for host: String) -> [Entry] {
    let host = host.filter { $0 != "[" && $0 != "]" }
    return entries.value.filter { $0.host == host }
  }
}

/// The words of a netrc file.
private struct NetrcWords {
  private var rest: ArraySlice<UInt8>
  private var line = 1

  init(_ text: String) {
    rest = Array(text.utf8)[...]
    let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    if rest.starts(with: byteOrderMark) { rest = rest.dropFirst(byteOrderMark.count) }
  }

  /// The error for the line that is being read.
  var malformed: TransferError { .netrcMalformed(line: line) }

  /// The next word; nil at the end.
  mutating func next() throws(TransferError) -> String? {
    while let byte = rest.first {
      if byte == UInt8(ascii: "#") {
        rest = rest.drop { $0 != 0x0A }
      } else if byte == 0x0A || byte == 0x0D || byte == 0x20 || byte == 0x09 {
        if byte == 0x0A { line += 1 }
        rest.removeFirst()
      } else {
        return byte == UInt8(ascii: "\"") ? try quoted() : plain()
      }
    }
    return nil
  }

  /// The word after a keyword.
  mutating func value() throws(TransferError) -> String {
    guard let word = try next() else { throw malformed }
    return word
  }

  /// Skips to the line after the next empty line.
  mutating func skipMacro() {
    rest = rest.drop { $0 != 0x0A }
    while !rest.isEmpty {
      rest.removeFirst()
      line += 1
      let content = rest.prefix { $0 != 0x0A }
      rest = rest[content.endIndex...]
      if content.allSatisfy({ $0 == 0x0D }) { return }
    }
  }

  private mutating func plain() -> String {
    let word = rest.prefix { $0 != 0x0A && $0 != 0x0D && $0 != 0x20 && $0 != 0x09 }
    rest = rest[word.endIndex...]
    return String(decoding: word, as: UTF8.self)
  }

  private mutating func quoted() throws(TransferError) -> String {
    var word: [UInt8] = []
    rest.removeFirst()
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\"") { return String(decoding: word, as: UTF8.self) }
      if byte == 0x0A { break }
      guard byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() else {
        word.append(byte)
        continue
      }
      switch escaped {
      case UInt8(ascii: "n"): word.append(0x0A)
      case UInt8(ascii: "r"): word.append(0x0D)
      case UInt8(ascii: "t"): word.append(0x09)
      default: word.append(escaped)
      }
    }
    throw malformed
  }
}
