import FormStreamBatch
import FormStreamJSON
import FormStreamMediaTypes
import FormStreamMultipart
import FormStreamPlatform

/// Runs `sniff`. A file that can't be read is reported, and the next ones are sniffed.
func sniff(_ plan: SniffPlan) throws(Failure) {
  guard canOpenDescriptors(needing: 10, free: 6) else {
    throw Failure(
      .inputOutput,
      "Too few files can be open at once to sniff any: allow 10 or more with ulimit -n.")
  }
  try runBlocking { () async throws(Failure) in try await sniffAll(plan) }
}

private func sniffAll(_ plan: SniffPlan) async throws(Failure) {
  warn(of: plan.sniffer)
  let file = try OutputFile(.standardOutput)
  // The value is stored, because `file.isTerminal` makes a system call.
  let isTerminal = file.isTerminal
  let output = LineBuffer(file, isByLine: isTerminal)
  var isComplete = true
  do {
    for try await file in plan.sniffer.types(of: NamedPaths(plan)) {
      switch file.result {
      case .success(let type):
        try output.write(
          line(of: file.path, type, format: plan.format, isTerminal: isTerminal))
      case .failure(let error):
        StandardError.note(message(about: error, at: file.path))
        isComplete = false
      }
    }
    try output.flush()
  } catch let failure as Failure {
    // If a list fails, the results before the failure are still printed.
    try? output.flush()
    throw failure
  } catch {
    throw Failure(.bug, "The files could not be sniffed: \(error).")
  }
  if !isComplete { throw Failure(.noInput, "Some files could not be sniffed, see above.") }
}

private func message(about error: MediaTypesError, at path: LocalPath) -> String {
  if path.bytes.isEmpty {
    return "The path of a file is \"\", which is empty: is a variable unset?"
  }
  if error.code == .inputMissing, path.bytes.last == 0x0D {
    return error.description + " " + PathList.noteOnCR
  }
  guard error.underlying as? SystemError == .isADirectory else { return error.description }
  return
    "The path \"\(path)\" is a directory: name the files in it, or list them with find -print0 and --files-from0 -."
}

private func line(
  of path: LocalPath, _ type: SniffedType, format: SniffPlan.Format, isTerminal: Bool
) -> [UInt8] {
  switch format {
  case .records:
    record(of: path, type).line()
  case .lines(let terminator):
    (isTerminal ? Array(visible(path.description).utf8) : path.bytes)
      + Array("\t\(type.type)\t\(type.source)".utf8) + [terminator]
  }
}

/// The paths of a plan: first the paths on the command line, then the paths in the lists.
private struct NamedPaths: AsyncSequence, AsyncIteratorProtocol {
  private var paths: ArraySlice<LocalPath>
  private var lists: ArraySlice<PathList>
  private var reader: PathListReader?

  init(_ plan: SniffPlan) {
    paths = plan.paths[...]
    lists = plan.lists[...]
  }

  func makeAsyncIterator() -> NamedPaths { self }

  mutating func next(
    isolation actor: isolated (any Actor)? = #isolation
  ) async throws -> LocalPath? {
    if let path = paths.popFirst() { return path }
    while true {
      if let reader {
        let path = try convertingErrors { () throws(BatchError) in try reader.next() }
        if let path { return path }
      }
      guard let list = lists.popFirst() else { return nil }
      reader = try list.reader()
    }
  }
}

private func record(of path: LocalPath, _ type: SniffedType) -> JSONValue {
  let path = JSONValue.path(path)
  return [
    "schema": "formstream.sniffed/1",
    "path": path.text,
    "path_b64": path.base64,
    "type": .string(type.type.description),
    "source": .string(type.source.rawValue),
  ]
}
