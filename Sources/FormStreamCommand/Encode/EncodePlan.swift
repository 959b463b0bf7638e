import FormStreamMediaTypes
import FormStreamMultipart

/// The checked arguments of `encode`.
struct EncodePlan {
  enum Product {
    case body
    case headers
    case outline
  }

  let form: PlannedForm
  /// Nil if all types are given: opening libmagic's database takes time.
  let sniffer: MediaTypeSniffer?
  let verifiesBoundary: Bool
  let product: Product
  let target: OutputTarget
  /// Messages that are printed before the work starts.
  let notes: [String]
  let isQuiet: Bool

  /// Detects types, and reads streams for that only if they are written afterwards.
  var guesser: any MediaTypeGuessing {
    guard let sniffer else { return NoGuess() }
    if case .body = product { return sniffer }
    return NonconsumingGuesser(sniffer: sniffer)
  }
}

extension LowArguments {
  func encodePlan() throws(Failure) -> EncodePlan {
    if printsHeaders, isDryRun {
      throw .usage("--headers and --dry-run print two different things: choose one of them.")
    }
    let target = try encodeTarget()
    let form = try plannedForm().growing(growth)
    return EncodePlan(
      form: form, sniffer: form.needsTypes ? sniffer() : nil, verifiesBoundary: verifiesBoundary,
      product: printsHeaders ? .headers : isDryRun ? .outline : .body, target: target, notes: notes,
      isQuiet: request.isQuiet)
  }

  private var notes: [String] {
    var notes: [String] = []
    notes += notesOnParts
    if parts.isEmpty { notes.append("The form has no parts: -F, --field and --file add them.") }
    if printsHeaders, boundary == nil {
      notes.append(
        "This boundary is for this run only: give the same --boundary here and where the body is made."
      )
    }
    return notes
  }

  private func encodeTarget() throws(Failure) -> OutputTarget {
    if let target = try outputTarget() { return target }
    if !printsHeaders, !isDryRun, isTerminal(.output) {
      throw .usage(
        "The body may hold any bytes, and standard output is a terminal: add -o FILE; or -o - to print it "
          + "anyway; or --dry-run to see what it consists of.")
    }
    return .standardOutput
  }
}
