/// An answer that lay in a socket when writing to it failed: a server that refuses a body early answers and
/// closes, and whoever is writing learns of the closing first.
struct SalvagedAnswer {
  /// Feeds what lay there to an intake, as libcurl would have; whether a whole head of a final answer was in
  /// it.
  static func feed(_ bytes: [UInt8], to intake: AnswerIntake) -> Bool {
    bytes.withUnsafeBytes { all in
      var rest = all[...]
      while intake.response == nil {
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return false }
        guard intake.take(headLine: UnsafeRawBufferPointer(rebasing: rest[...end])) else {
          return false
        }
        rest = rest[(end + 1)...]
      }
      feedBody(UnsafeRawBufferPointer(rebasing: rest), to: intake)
      return true
    }
  }

  /// Of the body, what is there: it is for people to read, and may break off.
  private static func feedBody(_ rest: UnsafeRawBufferPointer, to intake: AnswerIntake) {
    let length = intake.headers["Content-Length"].flatMap { Int($0) }
    let isFramed = intake.headers.contains("Transfer-Encoding")
    // Chunks would have to be taken apart: what is needed is the status, and that is there.
    guard !isFramed else { return intake.cut() }
    let wanted = length.map { rest.prefix(max($0, 0)) } ?? rest[...]
    _ = intake.take(body: UnsafeRawBufferPointer(rebasing: wanted))
    // Without a length, nobody knows whether there would have been more.
    if rest.count < length ?? .max { intake.cut() }
  }
}
