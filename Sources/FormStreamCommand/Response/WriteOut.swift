import FormStreamHTTP
import FormStreamMultipart

/// The format of `-w`: text, and values that are known when a request has ended.
struct WriteOut {
  enum Piece: Equatable {
    case text(String)
    case value(WriteOutValue)
    /// `%header{NAME}`
    case header(String)
    /// `%{onerror}`: the pieces after it are not printed if the request succeeded.
    case onError
    /// `%{stdout}` and `%{stderr}`: the output of the pieces after them.
    case standardOutput, standardError
  }

  /// A piece, and the output that it goes to. Pieces that only choose the output are left out.
  private struct PlacedPiece {
    let piece: Piece
    let isOnStandardOutput: Bool
  }

  /// A larger file is a mistake.
  private static let maximumSize = 1024 * 1024

  private let pieces: [PlacedPiece]

  /// Reads the format, or the file that the argument names.
  init(_ argument: Argument) throws(Failure) {
    let file = DataOrFile(argument, of: "-w").file
    var format = argument
    if let file {
      // As in curl, the line breaks of the file itself are left out. Only the escape `\n` in the file prints a line break.
      let contents = try DataArgument.contents(of: file, for: "-w", limit: Self.maximumSize)
      format = Argument(
        bytes: contents.filter { $0 != 0x0A && $0 != 0x0D && $0 != 0 }, from: argument)
    }
    pieces = Self.placed(try Self.pieces(try format.text(for: "-w"), format.named("-w")))
  }

  // MARK: Reading

  private static func pieces(_ format: String, _ flag: String) throws(Failure) -> [Piece] {
    var pieces: [Piece] = []
    var text = ""
    var rest = Substring(format)
    func flush() {
      if !text.isEmpty { pieces.append(.text(text)) }
      text = ""
    }
    while let first = rest.first {
      if first == "\\", let escaped = rest.dropFirst().first {
        text += ["n": "\n", "r": "\r", "t": "\t"][escaped] ?? "\\\(escaped)"
        rest = rest.dropFirst(2)
      } else if rest.hasPrefix("%%") {
        text += "%"
        rest = rest.dropFirst(2)
      } else if let (name, after) = word(after: "%{", in: rest) {
        flush()
        pieces.append(try piece(name, flag))
        rest = after
      } else if let (name, after) = word(after: "%header{", in: rest) {
        flush()
        pieces.append(.header(name))
        rest = after
      } else {
        text.append(first)
        rest = rest.dropFirst()
      }
    }
    flush()
    return pieces
  }

  /// The text between an opening and the next closing brace, and the text after it; nil if `text` does not begin with
  /// the opening.
  private static func word(
    after opening: String, in text: Substring
  ) -> (name: String, after: Substring)? {
    guard text.hasPrefix(opening), let end = text.firstIndex(of: "}") else { return nil }
    return (
      String(text[..<end].dropFirst(opening.count)), text[text.index(after: end)...]
    )
  }

  private static func piece(_ name: String, _ flag: String) throws(Failure) -> Piece {
    switch name {
    case "stdout": return .standardOutput
    case "stderr": return .standardError
    case "onerror": return .onError
    default: break
    }
    if let value = WriteOutValue(rawValue: name) { return .value(value) }
    let known = WriteOutValue.allCases.map(\.rawValue)
    throw .usage(
      "\(flag) has a value that is not known; these are: \(known.joined(separator: ", "))."
        + Suggestion.text(for: name.lowercased(), among: known)
        + Suggestion.text(for: name, among: known))
  }

  /// The pieces with their outputs: each piece goes to the output that was named last before it.
  private static func placed(_ pieces: [Piece]) -> [PlacedPiece] {
    var isOnOutput = true
    var placed: [PlacedPiece] = []
    for piece in pieces {
      switch piece {
      case .standardOutput: isOnOutput = true
      case .standardError: isOnOutput = false
      case .text, .value, .header, .onError:
        placed.append(PlacedPiece(piece: piece, isOnStandardOutput: isOnOutput))
      }
    }
    return placed
  }

  // MARK: Writing

  /// Whether any of the pieces may go to standard output.
  var isOnStandardOutput: Bool {
    pieces.contains { $0.isOnStandardOutput && $0.piece != .onError }
  }

  func write(_ request: EndedRequest) throws(Failure) {
    var (output, errors) = ("", "")
    pieces: for placed in pieces {
      let text: String
      switch placed.piece {
      case .onError where request.exit == .ok: break pieces
      case .onError, .standardOutput, .standardError: continue
      case .text(let plain): text = plain
      case .value(let value): text = value.text(of: request)
      case .header(let name): text = request.result.response?.headers[name] ?? ""
      }
      if placed.isOnStandardOutput { output += text } else { errors += text }
    }
    MessageStream.standardError.write(record: Array(errors.utf8))
    guard isOnStandardOutput else { return }
    let file = try OutputFile(.standardOutput)
    guard file.isTerminal else { return try file.write(output) }
    var terminal = TerminalStream()
    let shown = Array(output.utf8).withUnsafeBytes { terminal.visible($0) }
    try file.write(shown + terminal.rest())
  }
}
