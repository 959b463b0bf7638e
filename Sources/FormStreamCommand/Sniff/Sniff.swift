import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamRecords

/// Carries out `sniff`. A file that can't be read is told, and the others go on.
func sniff(_ plan: SniffPlan) async throws(Failure) {
  warn(of: plan.sniffer)
  let output = LineBuffer(try OutputFile(.standardOutput))
  var isWhole = true
  do {
    for try await file in plan.sniffer.types(of: NamedPaths(plan)) {
      switch file.result {
      case .success(let type):
        try output.write(
          line(of: file.path, type, in: plan.form, forPeople: output.isForPeople))
      case .failure(let error):
        StandardError.write("formstream: \(error.description)")
        isWhole = false
      }
    }
    try output.flush()
  } catch let failure as Failure {
    // What was found out before a list failed is as good as ever.
    try? output.flush()
    throw failure
  } catch {
    throw Failure(.bug, "The files could not be sniffed: \(error).")
  }
  if !isWhole { throw Failure(.noInput, "Not all files could be sniffed, see above.") }
}

/// Says once that content can't be looked at.
func warn(of sniffer: MediaTypeSniffer?) {
  guard let warning = sniffer?.warning else { return }
  StandardError.write(
    "formstream: \(warning.description) Until then types are told by extension alone, where --sniff "
      + "allows it.")
}

private func line(
  of path: LocalPath, _ type: SniffedType, in form: SniffPlan.Form, forPeople: Bool
) -> [UInt8] {
  switch form {
  case .records:
    SniffedRecord(path: path, type: type.type.description, source: type.source.rawValue).json.line()
  case .lines(let terminator):
    (forPeople ? Array(visible(path.description).utf8) : path.bytes)
      + Array("\t\(type.type)\t\(type.source)".utf8) + [terminator]
  }
}

/// The paths of a plan, one after the other.
private struct NamedPaths: AsyncSequence, AsyncIteratorProtocol {
  private var paths: ArraySlice<LocalPath>
  private var lists: ArraySlice<PathList>
  private var reader: PathListReader?

  init(_ plan: SniffPlan) {
    paths = plan.paths[...]
    lists = plan.lists[...]
  }

  func makeAsyncIterator() -> NamedPaths { self }

  mutating func next() async throws -> LocalPath? {
    if let path = paths.popFirst() { return path }
    while true {
      if let path = try reader?.next() { return path }
      guard let list = lists.popFirst() else { return nil }
      reader = try PathListReader(list)
    }
  }
}

/// Output that is written in large pieces; to a terminal line by line.
private final class LineBuffer {
  private static let size = 32 * 1024

  private let output: OutputFile
  /// Whether it goes to a terminal. Asked once: it costs a system call.
  let isForPeople = isTerminal(.output)
  private var held: [UInt8] = []

  init(_ output: OutputFile) {
    self.output = output
  }

  func write(_ line: [UInt8]) throws(Failure) {
    held += line
    if isForPeople || held.count >= Self.size { try flush() }
  }

  func flush() throws(Failure) {
    // Also where it fails: what was written in part would come twice.
    defer { held.removeAll(keepingCapacity: true) }
    try output.write(held)
  }
}
