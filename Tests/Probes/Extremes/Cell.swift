/// One setting with one value.
struct Cell: Sendable {
  let name: String
  /// Returns what came of it: a result or an error.
  let run: @Sendable () async -> String

  /// A cell for each of the values.
  static func each<Value: Sendable>(
    _ setting: String, _ values: [Value],
    _ body: @escaping @Sendable (Value) async throws -> Any
  ) -> [Cell] {
    values.map { value in
      Cell(name: "\(setting) = \(value)") {
        do { return "\(try await body(value))" } catch { return "error: \(error)" }
      }
    }
  }
}

/// The values of a setting.
enum Extremes {
  static let integers: [Int] = [
    .min, .min + 1, -1 << 53, -1 << 32, -1 << 31, -2, -1, 0, 1, 2, 7, 1 << 31 - 1, 1 << 31, 1 << 32,
    1 << 53, .max / 8, .max - 1, .max,
  ]
  static let int64s = integers.map(Int64.init)
  static let int32s: [Int32] = [.min, -1, 999_999, .max - 1, .max]

  static let durations: [Duration] = [
    // More than the components of a `Duration` can say.
    Duration(attoseconds: .min), .seconds(Int64.min), .seconds(-1 << 53), .seconds(-1),
    .nanoseconds(-1), .zero,
    Duration(secondsComponent: 0, attosecondsComponent: 1), .nanoseconds(1), .milliseconds(1),
    .seconds(1 << 31), .seconds(1 << 53), .seconds(Int64.max / 1000 + 1), .seconds(Int64.max),
    Duration(attoseconds: .max),
  ]

  static let ranges: [Range<Int64>] = int64s.flatMap { lower in
    int64s.filter { $0 >= lower }.map { lower..<$0 }
  }
}
