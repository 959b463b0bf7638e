import FormStreamMultipart
import FormStreamTestSupport

/// The input: 21 bytes that choose options, limits, boundary and cuts, then the body.
func checkParser(_ choices: inout Choices) throws {
  let options = FormParser.Options(chosenBy: &choices)
  let choice = Int(choices.byte())
  let places = (0..<5).map { _ in choices.place() }
  let body = Array(choices.rest)
  let boundary = choice == 0 ? namedBoundary(in: body) : boundaries[choice % boundaries.count]
  let size = boundary.utf8.count

  let whole: ParserRun
  do {
    whole = try ParserRun(body, boundary: boundary, options: options)
  } catch let error as MultipartError {
    let isFit = size > 0 && size <= options.limits.boundary
    try hold(error.code == .invalidBoundary && !isFit, "\(boundary.debugDescription): \(error)")
    return
  }
  try hold(size <= options.limits.boundary, "a boundary of \(size) bytes passed its limit")

  for cuts in [Array(body.indices), places.cuts(of: body.count)] {
    let run = try ParserRun(body, boundary: boundary, cuts: cuts, options: options)
    try hold(run == whole, "cut at \(cuts), \(run)\nwhole, \(whole)")
  }
  try checkCollected(body, boundary, options, like: whole, seed: UInt64(places[0]))
  try checkPlausible(whole, of: body, options)
  try checkLimits(whole, options.limits)
  try checkPlainly(whole, of: body, boundary, options)
  Planted.overread(body, whole)
}

/// Boundaries that overlap themselves, or look like the text around them.
private let boundaries = ["B", "-", "--", "abab", "aaaa", "--a-", "a b", "\"", "é"]

/// The boundary in the first line of the body that begins with two hyphens, so that any body from a
/// file can be a seed.
private func namedBoundary(in body: [UInt8]) -> String {
  let lines = body.split(omittingEmptySubsequences: true) { $0 == 0x0A || $0 == 0x0D }
  let line = lines.first { $0.starts(with: Array("--".utf8)) } ?? Array("--B".utf8)[...]
  return String(decoding: line.dropFirst(2), as: UTF8.self)
}

extension FormParser.Options {
  fileprivate init(chosenBy choices: inout Choices) {
    self.init()
    let flags = choices.byte()
    requiresNames = flags & 1 == 0
    allowsBareLF = flags & 2 != 0
    let profile = Int(flags >> 2) & 15
    if (1...EscapingProfile.all.count).contains(profile) {
      escaping = EscapingProfile.all[profile - 1]
    }

    let isLowered = choices.byte()
    let values = (0..<8).map { _ in Int(choices.byte()) }
    func lower(_ index: Int, _ set: (Int) -> Void) {
      if isLowered & 1 << UInt8(index) != 0 { set(values[index]) }
    }
    lower(0) { limits.headerBlock = $0 }
    lower(1) { limits.headersPerPart = $0 }
    lower(2) { limits.parts = $0 }
    lower(3) { limits.preamble = Int64($0) }
    lower(4) { limits.epilogue = Int64($0) }
    lower(5) { limits.partBytes = Int64($0) }
    lower(6) { limits.totalBytes = Int64($0) * 4 }
    lower(7) { limits.boundary = $0 }
    if flags & 64 != 0 { limits.allHeaders = Int64(values[0]) }
  }
}

private func checkPlausible(
  _ run: ParserRun, of body: [UInt8], _ options: FormParser.Options
) throws {
  try hold(run.isEndFinal, "the end was another when asked for again")
  try hold(!run.hasEmptyBytes, "an event for no bytes")
  try hold(run.isComplete != (run.code != nil), "neither complete nor failed, or both: \(run)")
  let sum = run.parts.reduce(0) { $0 + $1.body.count }
  try hold(sum <= body.count, "\(sum) bytes of parts in \(body.count)")
  if let offset = run.offset {
    try hold((0...Int64(body.count)).contains(offset), "failed at \(offset) of \(body.count)")
  }
  if run.code != nil {
    try hold(run.offset != nil, "no place for \(String(describing: run.code))")
    let codes: [MultipartError.Code?] = [.malformedBody, .bodyIncomplete, .limitExceeded]
    try hold(codes.contains(run.code), "failed as \(String(describing: run.code))")
  }
  guard options.requiresNames else { return }
  for part in run.parts {
    try hold(part.head.name != nil && part.head.disposition?.type == "form-data", "\(part.head)")
  }
}

private func checkLimits(_ run: ParserRun, _ limits: FormParser.Limits) throws {
  try hold(run.parts.count <= limits.parts, "\(run.parts.count) parts")
  var sum: Int64 = 0
  var headers: Int64 = 0
  for part in run.parts {
    sum += Int64(part.body.count)
    try hold(part.body.count <= limits.partBytes ?? .max, "\(part.body.count) bytes in a part")
    try hold(part.head.headers.count <= limits.headersPerPart, "\(part.head.headers.count) headers")
    let block = part.head.headers.reduce(0) { $0 + $1.name.utf8.count + $1.bytes.count + 1 }
    try hold(block <= limits.headerBlock, "\(block) bytes of headers")
    headers += Int64(block)
  }
  try hold(sum <= limits.totalBytes ?? .max, "\(sum) bytes in all")
  try hold(headers <= limits.allHeaders, "\(headers) bytes of all headers")
}

/// Checks that the parser finds the same parts, up to its error, and does not miss the end.
private func checkPlainly(
  _ run: ParserRun, of body: [UInt8], _ boundary: String, _ options: FormParser.Options
) throws {
  let plain = PlainReading(body, boundary: boundary, allowsBareLF: options.allowsBareLF)
  let whole = run.parts.filter(\.isComplete).map(\.body)
  try hold(
    run.isComplete ? plain.parts == whole : plain.parts.starts(with: whole),
    "\(plain.parts) in the body, \(run)")
  let isIncomplete = run.code == .bodyIncomplete
  try hold(!(run.isComplete && !plain.isComplete), "complete without an end: \(run)")
  try hold(!(isIncomplete && plain.isComplete), "the end was not seen: \(run)")
}

/// Checks that collecting the form gives the same parts.
private func checkCollected(
  _ body: [UInt8], _ boundary: String, _ options: FormParser.Options, like run: ParserRun,
  seed: UInt64
) throws {
  let parser = try FormParser(boundary: boundary, options: options)
  let source = StaccatoSource(body, seed: seed)
  do {
    let form = try CollectedForm(reading: source, with: parser, limit: body.count)
    try hold(run.isComplete, "collected what is not complete: \(run)")
    try hold(
      form.parts.map(\.bytes) == run.parts.map(\.body)
        && form.parts.map(\.head) == run.parts.map(\.head), "collected \(form)\nnot \(run)")
  } catch let error as MultipartError {
    try hold(
      error.code == run.code && error.offset == run.offset, "collecting: \(error)\nnot \(run)")
  }
}
