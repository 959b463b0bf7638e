import FormStreamMultipart
import FormStreamTransfer

extension LowArguments {
  /// The request's own headers. Warnings about files that hold secrets go into `notes`.
  func headers(
    for body: PlannedBody, notes: inout [String]
  ) throws(Failure) -> HTTPHeaders {
    var headers = HTTPHeaders()
    for typed in request.headers {
      switch typed {
      case .line(let argument):
        try HeaderLine(argument).add(to: &headers)
      case .file(let file):
        guard sendsRequest || file.bytes != Array("-".utf8) else { continue }
        let secrets = try SecretFile(file, for: "--header-file")
        notes += secrets.warnings
        for line in secrets.lines() {
          do throws(Failure) {
            try HeaderLine(secret: line.bytes).add(to: &headers)
          } catch {
            // Nothing of it is told, not even the name: of a line that is wrong, nobody knows what it is.
            throw .usage(
              "Line \(line.number) of the file \"\(file.shown)\" of --header-file is no header that can be "
                + "sent: write Name: value, and nothing that frames the body.")
          }
        }
      }
    }
    if case .form = body, headers.contains("Content-Type") {
      throw .usage(
        "The Content-Type of a form names its boundary and is made, so it can't be set: --boundary sets the "
          + "boundary, --type the type of a part.")
    }
    if let agent = request.userAgent {
      if headers.contains("User-Agent") {
        throw .usage("-A and -H both say what the User-Agent is: leave one out.")
      }
      try HeaderLine(name: "User-Agent", value: try agent.text(for: "-A")).add(to: &headers)
    }
    if request.json != nil, !headers.contains("Accept") {
      try HeaderLine(name: "Accept", value: "application/json").add(to: &headers)
    }
    return headers
  }

  /// Who sends the request, where that is told.
  func credentials(notes: inout [String]) throws(Failure) -> Credentials? {
    switch request.credentials {
    case .user(let argument): return try basic(argument.bytes, "-u")
    case .userFile(let file) where !sendsRequest && file.bytes == Array("-".utf8):
      return .basic(user: "", password: "")
    case .tokenFile(let file) where !sendsRequest && file.bytes == Array("-".utf8):
      return .bearer("")
    case .userFile(let file):
      let secrets = try SecretFile(file, for: "--user-file")
      notes += secrets.warnings
      return try basic(try secrets.onlyLine(), "The file of --user-file")
    case .tokenFile(let file):
      let secrets = try SecretFile(file, for: "--token-file")
      notes += secrets.warnings
      return .bearer(try secrets.token())
    case nil: return nil
    }
  }

  private func basic(_ bytes: [UInt8], _ what: String) throws(Failure) -> Credentials {
    guard let text = String(validating: bytes, as: UTF8.self), HTTPSyntax.isFieldValue(text.utf8)
    else {
      throw .usage("\(what) has a control character in it, or is not UTF-8: write USER:PASS.")
    }
    let words = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard words.count == 2 else {
      throw .usage("\(what) has no colon in it: write USER:PASS.")
    }
    return .basic(user: String(words[0]), password: String(words[1]))
  }
}

/// One header of a request as it was typed.
struct HeaderLine {
  let name: String
  let value: String
  var isSecret = false

  init(name: String, value: String) {
    self.name = name
    self.value = value
  }

  /// `Name: value`, or `Name;` for an empty value.
  init(_ argument: Argument) throws(Failure) {
    let line = try argument.text(for: "-H")
    if line.hasPrefix("@") {
      throw .usage("-H \"\(line)\" names no header: --header-file FILE takes headers from a file.")
    }
    guard let (name, value) = Self.split(line) else {
      throw .usage("-H \"\(line)\" has no colon in it: write 'Name: value'.")
    }
    guard let value else {
      throw .usage(
        "-H \"\(line)\" has no value: write '\(name);' for an empty one. What formstream sends by itself "
          + "can be replaced, and not left out.")
    }
    (self.name, self.value) = (name, value)
  }

  /// A line of a file of secrets.
  init(secret line: [UInt8]) throws(Failure) {
    guard let text = String(validating: line, as: UTF8.self), let (name, value) = Self.split(text),
      let value
    else {
      throw .usage("It is no header.")
    }
    (self.name, self.value, isSecret) = (name, value, true)
  }

  func add(to headers: inout HTTPHeaders) throws(Failure) {
    try transferring { () throws(TransferError) in
      try headers.append(name: name, value: value, isSecret: isSecret)
    }
  }

  /// The name and the value, which is nil where there is nothing behind the colon; nil where there is no mark.
  private static func split(_ line: String) -> (name: String, value: String?)? {
    let bytes = line.utf8
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else {
      guard bytes.last == UInt8(ascii: ";") else { return nil }
      return (String(Substring(bytes.dropLast())), "")
    }
    let value = Substring(bytes[bytes.index(after: colon)...].drop(while: \.isBlank))
    return (String(Substring(bytes[..<colon])), value.isEmpty ? nil : String(value))
  }
}
