/// A command, such as `formstream post`. Help lists them in this order.
enum Verb: String, CaseIterable, Sendable {
  case post
  case put
  case get
  case send
  case plan
  case report
  case receive
  case encode
  case parse
  case sniff
  case bench

  /// Whether the command sends one request with a body.
  var sends: Bool { self == .post || self == .put }

  /// Whether people try curl's flags with the command.
  var isLikeCurl: Bool { Self.likeCurl.contains(self) }

  /// The commands that people use in place of curl.
  static let likeCurl: [Verb] = [.post, .put, .get]

  /// The commands that send requests, and so have the flags about requests, connections and delivery.
  static let requesting: [Verb] = [.post, .put, .get, .send]

  /// The commands whose requests have bodies.
  static let sending: [Verb] = [.post, .put, .send]

  var summary: String {
    switch self {
    case .post: "Send a form, or another body, and print the response"
    case .put: "Send a file, or another body, by PUT, and print the response"
    case .get: "Download files, or print what is at a URL"
    case .send: "Send many files by POST, each in a form of its own"
    case .plan: "List files in a manifest, so that several runs or machines can share them"
    case .report: "Say what became of each file of a manifest, over all runs"
    case .receive: "Accept uploads as a server, store the files, respond with records"
    case .encode: "Write the body of a form, its headers, or an outline of it"
    case .parse: "Read the body of a form: list its parts, store its files"
    case .sniff: "Detect the media types of files"
    case .bench: "Measure what an upload costs: time, processor and memory, beside other programs"
    }
  }

  /// The words after the flags.
  struct Operand {
    let placeholder: String
    let canBeRepeated: Bool
    /// The placeholder of all words after the first word, if it differs from `placeholder`.
    var rest: String?
    /// The placeholder of words that may come before the operand. Usage then shows a single operand.
    var start: String?

    var usage: String {
      if let start { return "\(start) \(placeholder)" }
      return canBeRepeated ? "\(placeholder)\(rest.map { " [\($0)]" } ?? "")..." : placeholder
    }
  }

  /// Nil if the command takes only flags.
  var operand: Operand? {
    switch self {
    case .encode, .receive: nil
    case .parse: Operand(placeholder: "FILE", canBeRepeated: false)
    case .bench: Operand(placeholder: "[URL]", canBeRepeated: true, rest: "-- COMMAND")
    case .sniff, .plan: Operand(placeholder: "PATH", canBeRepeated: true)
    case .report: Operand(placeholder: "DIR", canBeRepeated: true)
    // More words are files, or URLs for the files of -T.
    case .post: Operand(placeholder: "URL", canBeRepeated: true, start: "[@FILE]")
    case .put: Operand(placeholder: "URL", canBeRepeated: true, start: "[@FILE | FILE...]")
    case .get: Operand(placeholder: "URL", canBeRepeated: true)
    case .send: Operand(placeholder: "URL", canBeRepeated: true, rest: "FILE")
    }
  }

  /// How the command is called: `formstream post [FLAG]... URL`.
  var usage: String {
    "formstream \(rawValue) [FLAG]..." + (operand.map { " \($0.usage)" } ?? "")
  }
}
