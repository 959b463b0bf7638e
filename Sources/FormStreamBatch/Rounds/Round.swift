package import FormStreamJSON

/// A round of a listing: what one run of the same command has to send, compared with the rounds before it. The first line
/// of the round's manifest has these numbers.
public struct Round: Hashable, Sendable {
  /// The number of the round. The first listing is round 1.
  public package(set) var number: Int
  /// How many files the round before did not have.
  public package(set) var new = 0
  /// How many files have another size, another time or other contents than in the earlier rounds.
  public package(set) var changed = 0
  /// How many files are the same as before and are sent again, because no journal proves that they were accepted, or
  /// because all files are to be sent.
  public package(set) var again = 0
  /// How many files are the same as before and were accepted.
  public package(set) var unchanged = 0
  /// How many files of the round before are not there any more.
  public package(set) var gone = 0

  package init(number: Int) {
    self.number = number
  }

  /// No round and no number of files is larger. A larger number in a manifest was not written by a run.
  static let maximum: Int64 = 1 << 48

  /// How many files the round has to send.
  public var files: Int { new + changed + again }

  package var json: JSONValue {
    [
      "number": .integer(Int64(number)), "new": .integer(Int64(new)),
      "changed": .integer(Int64(changed)), "again": .integer(Int64(again)),
      "unchanged": .integer(Int64(unchanged)), "gone": .integer(Int64(gone)),
    ]
  }

  /// Reads the numbers; nil if the value has no number of a round.
  init?(_ json: JSONValue) {
    func count(_ key: String) -> Int? {
      json[key]?.integer.flatMap { (0...Self.maximum).contains($0) ? Int(exactly: $0) : nil }
    }
    guard let number = count("number"), number > 0 else { return nil }
    self.number = number
    new = count("new") ?? 0
    changed = count("changed") ?? 0
    again = count("again") ?? 0
    unchanged = count("unchanged") ?? 0
    gone = count("gone") ?? 0
  }
}
