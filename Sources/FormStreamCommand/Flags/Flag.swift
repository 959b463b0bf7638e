/// A flag, declared once: parsing, help, man page and completions are all made from this.
struct Flag: Sendable {
  /// What a flag's value looks like in help, and how a shell completes it.
  struct Value: Sendable {
    let placeholder: String
    var completion = Completion.none

    enum Completion: Sendable {
      case none
      case path
      /// A path behind `NAME=`.
      case namedPath
      /// A path behind `NAME=@` or `NAME=<`.
      case formPath
      case choices([String])
    }
  }

  /// Headings in help and man page, in the order in which they stand there.
  enum Group: String, CaseIterable, Sendable {
    case paths = "Which files"
    case parts = "Parts of the form"
    case previousPart = "For the part before"
    case types = "Media types"
    case wire = "On the wire"
    case body = "Other bodies than forms"
    case request = "The request"
    case delivery = "How it is sent"
    case connection = "The connection"
    case reading = "How the body is read"
    case receiving = "Who may upload what"
    case output = "What comes out"
    case general = "General"
  }

  let long: String
  var short: Character?
  var value: Value?
  let group: Group
  /// The commands that know the flag; all where empty.
  var verbs: [Verb] = []
  /// One line, for help and completions.
  let summary: String
  /// What else there is to know, for the man page.
  var detail = ""
  /// Notes down what was typed. A switch gets an empty argument.
  let note: @Sendable (inout LowArguments, Argument) throws(Failure) -> Void
}

extension Flag {
  /// Every flag, in the order of the help.
  static let all: [Flag] =
    pathFlags + partFlags + previousPartFlags + typeFlags + wireFlags + bodyFlags + requestFlags
    + deliveryFlags + connectionFlags + readingFlags + receivingFlags + outputFlags + answerFlags
    + generalFlags

  static func named(_ long: String) -> Flag? { all.first { $0.long == long } }
  static func named(_ short: Character) -> Flag? { all.first { $0.short == short } }

  func isKnown(to verb: Verb) -> Bool { verbs.isEmpty || verbs.contains(verb) }

  /// The flag as help shows it: `-F, --form NAME=CONTENT`.
  var usage: String {
    let names = short.map { "-\($0), --\(long)" } ?? "    --\(long)"
    return value.map { "\(names) \($0.placeholder)" } ?? names
  }
}
