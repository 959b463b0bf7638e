import FormStreamMediaTypes
import FormStreamMultipart

/// What `encode` is to do.
struct EncodePlan {
  enum Product {
    case body
    case headers
    case skeleton
  }

  let form: PlannedForm
  /// Nil where all types are given: libmagic's database takes its time.
  let sniffer: MediaTypeSniffer?
  let verifiesBoundary: Bool
  let product: Product
  let target: OutputTarget
  /// What the person should know, and what keeps nothing from being done.
  let notes: [String]
}

extension LowArguments {
  func encodePlan() throws(Failure) -> EncodePlan {
    if printsHeaders, isDryRun {
      throw .usage("--headers and --dry-run are two things to print: ask for one of them.")
    }
    let target = try outputTarget()
    if case .standardOutput = target { try checkInputs() }
    let form = try plannedForm()
    return EncodePlan(
      form: form, sniffer: form.needsTypes ? sniffer() : nil, verifiesBoundary: verifiesBoundary,
      product: printsHeaders ? .headers : isDryRun ? .skeleton : .body, target: target, notes: notes
    )
  }

  private var notes: [String] {
    var notes: [String] = []
    if parts.isEmpty { notes.append("The form has no parts: -F, --field and --file add them.") }
    if printsHeaders, boundary == nil {
      notes.append(
        "This boundary was drawn for this run alone: give --boundary here and where the body is made."
      )
    }
    return notes
  }

  /// A file that is read while it is written to never ends, or is empty by now.
  private func checkInputs() throws(Failure) {
    for part in parts {
      guard let path = part.path else { continue }
      guard isOutputFile(part.isStandardInput ? "/dev/stdin" : path.path) else { continue }
      throw .usage(
        "The file \"\(path.shown)\" of part \"\(part.name)\" is also what standard output goes to: "
          + "write to another.")
    }
  }

  private func outputTarget() throws(Failure) -> OutputTarget {
    guard let output else {
      if !printsHeaders, !isDryRun, isTerminal(.output) {
        throw .usage(
          "The body may hold anything, and standard output is a terminal: add -o FILE, -o - to see it "
            + "raw all the same, or --dry-run to see what it is made of.")
      }
      return .standardOutput
    }
    if output.bytes == Array("-".utf8) { return .standardOutput }
    guard !output.bytes.isEmpty, !output.bytes.contains(0) else {
      throw .usage("-o needs the name of a file, or - for standard output.")
    }
    return .path(output.path)
  }
}
