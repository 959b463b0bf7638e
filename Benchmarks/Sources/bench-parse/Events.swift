import FormStreamMultipart
import Measuring

/// Pieces of a body that are there at once.
private struct Pieces: AsyncSequence {
  let body: [UInt8]
  let size: Int

  struct AsyncIterator: AsyncIteratorProtocol {
    let pieces: Pieces
    var place = 0

    mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> ArraySlice<UInt8>? {
      guard place < pieces.body.count else { return nil }
      let end = Swift.min(place + pieces.size, pieces.body.count)
      defer { place = end }
      return pieces.body[place..<end]
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: self) }
}

private struct SmallParts: Sendable {
  let boundary = "FormStream-0123456789abcdefghijklmn"
  let count: Int
  let body: [UInt8]

  init(count: Int) {
    self.count = count
    let part = "--\(boundary)\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n0123456789\r\n"
    body = Array((String(repeating: part, count: count) + "--\(boundary)--\r\n").utf8)
  }

  private func parser() throws -> FormParser {
    var options = FormParser.Options()
    options.limits.parts = .max
    options.limits.allHeaders = .max
    return try FormParser(boundary: boundary, options: options)
  }

  /// Microseconds a part if the parser is fed.
  func byHand() throws -> Double {
    var found = Count()
    let timing = try Timing {
      let parser = try parser()
      try body.withUnsafeBytes { try parser.feed($0, piece: 64 * 1024, to: &found) }
      while let event = try parser.finish() { found.add(event) }
    }
    return try perPart(timing.wall, found.parts)
  }

  /// Microseconds a part if a loop over events is on the actor.
  func byEvents(isolation actor: isolated (any Actor)?) async throws -> Double {
    var parts = 0
    let clock = ContinuousClock()
    let start = clock.now
    for try await event in FormEvents(of: Pieces(body: body, size: 64 * 1024), parser: try parser()) {
      if case .partBegan = event { parts += 1 }
    }
    return try perPart(start.duration(to: clock.now) / .seconds(1), parts)
  }

  private func perPart(_ seconds: Double, _ parts: Int) throws -> Double {
    guard parts == count else { throw Failure("\(parts) of \(count) parts were found") }
    return seconds / Double(count) * 1e6
  }
}

/// Parses small parts in turn by hand, by `FormEvents` in a task on no actor, and by it on the main actor. The first round is
/// not measured.
@MainActor func measureEvents(parts: Int, rounds: Int) async throws {
  let form = SmallParts(count: parts)
  var (onHand, onNone, onMain): ([Double], [Double], [Double]) = ([], [], [])
  for round in 0...rounds {
    let byHand = try form.byHand()
    let detached = try await Task.detached { try await form.byEvents(isolation: nil) }.value
    let main = try await form.byEvents(isolation: MainActor.shared)
    guard round > 0 else { continue }
    onHand.append(byHand)
    onNone.append(detached)
    onMain.append(main)
  }
  print("{\"by_hand\": \(onHand), \"detached\": \(onNone), \"main\": \(onMain)}")
}
