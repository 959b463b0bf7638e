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
  let product: Product
  let target: OutputTarget
  /// Messages that are printed before the work starts.
  let notes: [String]
  let isQuiet: Bool

  /// Detects types. A stream is read for this only if the body is written afterwards.
  var detector: any MediaTypeDetector {
    guard let sniffer else { return NoDetection() }
    if case .body = product { return sniffer }
    return NonconsumingDetector(sniffer: sniffer)
  }
}

extension EncodePlan {
  init(_ arguments: LowArguments) throws(Failure) {
    if arguments.printsHeaders, arguments.request.isDryRun {
      throw .usage("--headers and --dry-run print two different things: choose one of them.")
    }
    target = try Self.target(of: arguments)
    form = try PlannedForm(arguments.form)
    sniffer = form.needsTypes ? MediaTypeSniffer(arguments.types) : nil
    product = arguments.printsHeaders ? .headers : arguments.request.isDryRun ? .outline : .body
    notes = Self.notes(on: arguments)
    isQuiet = arguments.request.isQuiet
  }

  private static func notes(on arguments: LowArguments) -> [String] {
    var notes = arguments.form.parts.notes
    if arguments.form.parts.isEmpty {
      notes.append("The form has no parts: -F, --field and --file add them.")
    }
    if arguments.printsHeaders, arguments.form.boundary == nil {
      notes.append(
        "This boundary is for this run only: give the same --boundary here and where the body is made."
      )
    }
    return notes
  }

  private static func target(of arguments: LowArguments) throws(Failure) -> OutputTarget {
    if let output = arguments.output { return try OutputTarget(output) }
    if !arguments.printsHeaders, !arguments.request.isDryRun, isTerminal(.output) {
      throw .usage(
        "The body may hold any bytes, and standard output is a terminal: add -o FILE; or -o - to print it "
          + "anyway; or --dry-run to see what it consists of.")
    }
    return .standardOutput
  }
}
