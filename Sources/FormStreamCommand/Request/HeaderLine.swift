import FormStreamMultipart
import FormStreamHTTP

/// A header of a request as it was typed.
struct HeaderLine {
  let name: String
  let value: String
  var isSecret = false
  /// Whether the line is `Name:`, which leaves the header out.
  private(set) var leavesOut = false

  init(name: String, value: String) {
    self.name = name
    self.value = value
  }

  /// Reads `Name: value`, `Name;` for an empty value, or `Name:` to leave the header out.
  init(_ argument: Argument) throws(Failure) {
    let line = try argument.text(for: "-H")
    guard let (name, value) = Self.split(line) else {
      throw .usage("\(argument.named("-H")) has no colon in it: write 'Name: value'.")
    }
    guard HTTPSyntax.isToken(name.utf8) else {
      throw .usage(
        "\(argument.named("-H")) has a name that is not valid: use letters, digits and hyphens.")
    }
    (self.name, self.value) = (name, value ?? "")
    leavesOut = value == nil
  }

  /// Reads a line of a file of secrets.
  init(secret line: [UInt8]) throws(Failure) {
    guard let text = String(validating: line, as: UTF8.self), let (name, value) = Self.split(text),
      let value
    else {
      throw .usage("The line is not a header.")
    }
    (self.name, self.value, isSecret) = (name, value, true)
  }

  /// Whether this asks for a body in chunks.
  var asksForChunks: Bool {
    name.isSameHeaderName(as: "Transfer-Encoding") && value.lowercased() == "chunked"
  }

  /// The length that a `Content-Length` states; nil if this is another header, or states no length.
  var statedLength: Int64? {
    guard name.isSameHeaderName(as: "Content-Length"), value.utf8.count < 19,
      value.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return Int64(value)
  }

  func add(to headers: inout HTTPHeaders) throws(Failure) {
    headers.append(name, value, isSecret: isSecret)
    // A wrong header is reported before anything else is done.
    try convertingErrors(headers.checkOfRequest)
  }

  /// The name and the value; the value is nil if nothing follows the colon. Nil if there is neither a colon nor a
  /// semicolon at the end.
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
