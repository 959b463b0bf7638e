import FormStreamJSON
import FormStreamPlatform

/// What a measurement has found.
struct BenchResult {
  /// The uploads by one program.
  struct Program {
    let name: String
    let words: [String]
    /// Why the program is not measured any more; nil if nothing went wrong.
    var failure: String?
    var isMissing = false
    /// The uploads by size, without the first of each size.
    fileprivate(set) var uploads: [Int64: [MeasuredUpload]] = [:]
    fileprivate(set) var first: [Int64: MeasuredUpload] = [:]

    mutating func add(_ upload: MeasuredUpload, size: Int64, isFirst: Bool) {
      if let reason = upload.failure {
        failure = reason
      } else if isFirst {
        first[size] = upload
      } else {
        uploads[size, default: []].append(upload)
      }
    }

    /// Nil if nothing is known.
    func spread(_ size: Int64, _ value: (MeasuredUpload) -> Double?) -> Spread? {
      let values = uploads[size, default: []].compactMap(value)
      return values.isEmpty ? nil : Spread(values)
    }

    /// How many bytes of memory another GiB takes, from the smallest to the largest size; nil if they are too close.
    func slope(_ value: (MeasuredUpload) -> Double?, count: Int) -> Double? {
      guard let small = uploads.keys.min(), let large = uploads.keys.max(),
        case let difference = Double(large - small) * Double(count), difference >= Double(16 << 20),
        let less = spread(small, value)?.median, let more = spread(large, value)?.median
      else { return nil }
      return (more - less) / (difference / Double(1 << 30))
    }
  }

  let url: String
  let isOwnReceiver: Bool
  let rounds, count: Int
  var sizes: [Int64] = []
  var programs: [Program]
  /// What the reader has to know about the figures.
  var notes: [String] = []

  init(_ plan: BenchPlan, url: String) {
    (self.url, isOwnReceiver) = (url, plan.url == nil)
    (rounds, count) = (plan.rounds, plan.count)
    programs = plan.contenders.map { Program(name: $0.name, words: $0.words(url, ["FILE"])) }
  }

  mutating func note(_ text: String) {
    if !notes.contains(text) { notes.append(text) }
  }

  /// The ratio of a program's times to those of the first program.
  func ratio(of program: Program, _ size: Int64) -> (spread: Spread, isSafe: Bool)? {
    guard let first = programs.first, first.failure == nil, program.failure == nil, let ours = first.uploads[size],
      let theirs = program.uploads[size], !ours.isEmpty,
      ours.count == theirs.count
    else { return nil }
    return Spread.ratio(of: theirs.map { $0.time / .seconds(1) }, to: ours.map { $0.time / .seconds(1) })
  }
}

// MARK: For people

extension BenchResult {
  var table: String {
    var text = ""
    for size in sizes {
      let what = count > 1 ? "\(counted(count, "file", "files")) of \(HumanReadable.size(size))" : HumanReadable.size(size)
      text +=
        "\(what) in a form to \(url)\(isOwnReceiver ? ", a receiver of this program" : ""): the medians of "
        + "\(counted(rounds, "round", "rounds"))\n\n"
      text += TextTable.text(of: rows(of: size), numeric: [3, 4, 5])
      text += "\n"
    }
    if programs.contains(where: { $0.slope(\.peakBytes, count: count) != nil }) {
      text += "Memory for another GiB:\n\n" + TextTable.text(of: slopes, numeric: [1, 2]) + "\n"
    }
    let firsts = programs.compactMap { program in
      sizes.last.flatMap { program.first[$0] }.map { "\(program.name) \(seconds($0.time / .seconds(1)))" }
    }
    if !firsts.isEmpty { text += "The first round, which is not counted: \(firsts.joined(separator: ", ")).\n" }
    if programs.dropFirst().contains(where: { ratio(of: $0, sizes.last ?? 0)?.isSafe == false }) {
      text += "With fewer than 5 rounds, nothing can be said about chance.\n"
    }
    if !isOwnReceiver { text += "Only the programs' exit codes say that something has arrived there.\n" }
    for note in notes { text += "\(note)\n" }
    return text
  }

  private func rows(of size: Int64) -> [[String]] {
    let head = ["program", "seconds", "", "processor", "peak", "anonymous", "ratio of the times"]
    return [head]
      + programs.enumerated().map { index, program in
        guard program.failure == nil, let time = program.spread(size, { $0.time / .seconds(1) }),
          let processor = program.spread(size, { $0.processor / .seconds(1) })
        else { return [program.name, "", "", "", "", "", program.isMissing ? "missing" : "failed"] }
        return [
          program.name, seconds(time.median), "\(seconds(time.low)) to \(seconds(time.high))",
          seconds(processor.median), memory(program.spread(size, \.peakBytes)?.median),
          memory(program.spread(size, \.anonymousBytes)?.median),
          index == 0 ? "1" : ratioText(of: program, size),
        ]
      }
  }

  private func ratioText(of program: Program, _ size: Int64) -> String {
    guard let (spread, isSafe) = ratio(of: program, size) else { return "" }
    let value = decimal(spread.median, places: 2)
    guard isSafe else { return value }
    let range = "\(decimal(spread.low, places: 2)) to \(decimal(spread.high, places: 2))"
    return spread.low <= 1 && spread.high >= 1 ? "\(value) (\(range): no difference)" : "\(value) (\(range))"
  }

  private var slopes: [[String]] {
    [["program", "peak", "anonymous"]]
      + programs.filter { $0.failure == nil }.map { program in
        [
          program.name, memory(program.slope(\.peakBytes, count: count)),
          memory(program.slope(\.anonymousBytes, count: count)),
        ]
      }
  }

  private func memory(_ bytes: Double?) -> String {
    guard let bytes, let whole = Int64(exactly: bytes.rounded()) else { return "unknown" }
    return whole < 0 ? "-\(HumanReadable.size(-whole))" : HumanReadable.size(whole)
  }

  private func seconds(_ seconds: Double) -> String { decimal(seconds, places: seconds < 1 ? 3 : 2) }
}

/// A number with that many digits after the point.
func decimal(_ number: Double, places: Int) -> String {
  guard number.isFinite, number.magnitude < 1e12 else { return "?" }
  var scale: Int64 = 1
  for _ in 0..<places { scale *= 10 }
  let scaled = Int64((number.magnitude * Double(scale)).rounded())
  let (whole, rest) = scaled.quotientAndRemainder(dividingBy: scale)
  let digits = String(rest)
  let sign = number < 0 && scaled > 0 ? "-" : ""
  return sign + "\(whole)" + (places > 0 ? "." + String(repeating: "0", count: places - digits.count) + digits : "")
}

// MARK: For programs

extension BenchResult {
  /// The record: `formstream.bench/1`.
  var record: JSONValue {
    [
      "schema": "formstream.bench/1", "url": .string(url), "own_receiver": .boolean(isOwnReceiver),
      "count": .integer(Int64(count)), "rounds": .integer(Int64(rounds)),
      "programs": .array(programs.map(record(of:))), "notes": .array(notes.map { .string($0) }),
    ]
  }

  private func record(of program: Program) -> JSONValue {
    [
      "name": .string(program.name), "command": .array(program.words.map { .string($0) }),
      "error": .string(orNull: program.failure), "missing": .boolean(program.isMissing),
      "sizes": .array(sizes.compactMap { record(of: program, $0) }),
      "peak_per_gib": .integer(rounding: program.slope(\.peakBytes, count: count)),
      "anonymous_per_gib": .integer(rounding: program.slope(\.anonymousBytes, count: count)),
    ]
  }

  private func record(of program: Program, _ size: Int64) -> JSONValue? {
    guard let uploads = program.uploads[size], let last = uploads.last else { return nil }
    let ratio = ratio(of: program, size)
    return [
      "size": .integer(size),
      "first": program.first[size].map(\.record) ?? .null,
      "runs": .array(uploads.map(\.record)),
      "ratio": ratio.map { spread, isSafe in
        [
          "median": .fraction(rounding: spread.median), "low": .fraction(rounding: isSafe ? spread.low : nil),
          "high": .fraction(rounding: isSafe ? spread.high : nil),
        ]
      } ?? .null,
      "samples": .array(
        last.samples.map { sample in
          [
            .fraction(rounding: sample.time / .seconds(1)), .integer(sample.resident), .integer(sample.anonymous),
          ]
        }),
    ]
  }
}

extension MeasuredUpload {
  var peakBytes: Double? { peak.map { Double($0) } }
  fileprivate var anonymousBytes: Double? { anonymous.map { Double($0) } }

  fileprivate var record: JSONValue {
    [
      "seconds": .fraction(rounding: time / .seconds(1)),
      "processor_seconds": .fraction(rounding: processor / .seconds(1)),
      "peak": .integer(orNull: peak), "anonymous": .integer(orNull: anonymous),
    ]
  }
}
