import FormStreamPlatform

/// The lines of lists that can't be requested.
struct WrongLines {
  private static let maximumNamed = 5

  private var first: Failure?
  /// The places of the other lines, or of the first of them.
  private var others: [String] = []
  private var count = 0

  /// Adds a line. Any other failure than that of a wrong line is thrown again.
  mutating func add(_ line: Argument, _ failure: Failure) throws(Failure) {
    guard failure.exit == .usage else { throw failure }
    count += 1
    guard first != nil else {
      first = failure
      return
    }
    if others.count < Self.maximumNamed, let place = line.place { others.append(place.description) }
  }

  /// The failure of the first line, with the places of the others; nil if no line is wrong.
  var failure: Failure? {
    first.map { first in
      guard count > 1 else {
        return Failure(first.exit, "\(first.message) Nothing was requested.", code: first.code)
      }
      let rest = count - 1 - others.count
      let named = others.joined(separator: ", ") + (rest > 0 ? " and \(counted(rest, "other", "others"))" : "")
      return Failure(
        first.exit,
        "\(first.message) \(counted(count - 1, "other line is", "other lines are")) wrong, too: \(named). Nothing was requested.",
        code: first.code)
    }
  }
}
