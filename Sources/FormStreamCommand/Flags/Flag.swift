/// A flag. This one declaration feeds parsing, help, man page and completions.
struct Flag: Sendable {
  /// A flag's value: its placeholder in help, and how a shell completes it.
  struct Value: Sendable {
    let placeholder: String
    /// Whether the value may be left out. It then stands only after an equals sign: `--resumable=tus`.
    var isOptional = false
    var completion = Completion.none
    /// What is done with the files that a value names.
    var use = FileUse.read
    /// Finds the files that a value names; nil if the kind of completion is enough to find them.
    var names: (@Sendable (Argument) -> [Argument])?

    enum Completion: Sendable {
      case none
      case path
      case directory
      /// A path after `NAME=`.
      case namedPath
      /// A path after `NAME=@` or `NAME=<`.
      case formPath
      /// A path after `@` or `NAME@`.
      case dataPath
      case choices([String])
    }
  }

  /// The headings in help and man page, in the order in which they appear.
  enum Group: String, CaseIterable, Sendable {
    case paths = "Files"
    case manifest = "Manifest and shards"
    case parts = "Parts of the form"
    case previousPart = "For the part before the flag"
    case types = "Media types"
    case wire = "Encoding of the form"
    case body = "Bodies other than forms"
    case request = "Request"
    case delivery = "Delivery"
    case batch = "Many files"
    case connection = "Connection"
    case reading = "Reading the body"
    case receiving = "Receiving"
    case benching = "Measuring"
    case output = "Output"
    case general = "General"
  }

  let long: String
  var short: Character?
  var value: Value?
  let group: Group
  /// The commands that have the flag; all commands if empty.
  var verbs: [Verb] = []
  /// The commands whose help lists the flag first.
  var common: [Verb] = []
  /// One line, for help and completions.
  let summary: String
  /// Lines that replace `summary` for the commands for which it is not true.
  var summaries: [Verb: String] = [:]
  /// More about the flag, for the man page.
  var detail = ""
  /// Stores the typed value. A flag without a value gets an empty argument.
  let store: @Sendable (inout LowArguments, Argument) throws(Failure) -> Void
}

extension Flag {
  /// Every flag, in the order of the help.
  static let all: [Flag] =
    pathFlags + listingFlags + manifestFlags + partFlags + previousPartFlags + typeFlags + wireFlags
    + framingFlags + bodyFlags + requestFlags + authenticationFlags + cookieFlags
    + deliveryFlags + batchFlags + packingFlags + connectionFlags + tlsFlags + proxyFlags
    + readingFlags + receivingFlags + benchFlags
    + outputFlags + downloadFlags
    + responseFlags + printingFlags + generalFlags

  /// The flag with this name. Some names and letters stand for two flags, of different commands.
  ///
  /// - Parameter verb: the command, if it is known.
  static func named(_ long: String, for verb: Verb? = nil) -> Flag? {
    let flags = all.filter { $0.long == long }
    return verb.flatMap { verb in flags.first { $0.isKnown(to: verb) } } ?? flags.first
  }
  static func named(_ short: Character, for verb: Verb? = nil) -> Flag? {
    let flags = all.filter { $0.short == short }
    return verb.flatMap { verb in flags.first { $0.isKnown(to: verb) } } ?? flags.first
  }

  func isKnown(to verb: Verb) -> Bool { verbs.isEmpty || verbs.contains(verb) }

  /// The line about the flag for a command, or for all commands if `verb` is nil.
  func summary(for verb: Verb?) -> String { verb.flatMap { summaries[$0] } ?? summary }

  /// The flag as help shows it: `-F, --form NAME=CONTENT`.
  var usage: String {
    let names = short.map { "-\($0), --\(long)" } ?? "    --\(long)"
    return value.map { $0.isOptional ? "\(names)[=\($0.placeholder)]" : "\(names) \($0.placeholder)" } ?? names
  }
}
