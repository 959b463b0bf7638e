import FormStreamPlatform

/// A part of a manifest, for one of several runs that share the manifest: shard K of N, with K from 1 to N.
///
/// All shards together cover the manifest, and no record is in two shards.
public struct Shard: Hashable, Sendable, CustomStringConvertible {
  /// The shard's number K, from 1.
  public let number: Int
  /// The number of shards, N.
  public let count: Int

  /// Makes shard K of N; nil if K is not from 1 to N.
  public init?(_ number: Int, of count: Int) {
    guard count > 0, (1...count).contains(number) else { return nil }
    self.number = number
    self.count = count
  }

  /// Reads `K/N`; nil if the text is not a shard.
  package init?(text: String) {
    let numbers = text.split(separator: "/", omittingEmptySubsequences: false)
    guard numbers.count == 2, numbers.allSatisfy(\.isASCIIDigits), let number = Int(numbers[0]),
      let count = Int(numbers[1])
    else { return nil }
    self.init(number, of: count)
  }

  /// The shard as `K/N`.
  public var description: String { "\(number)/\(count)" }

  /// The bytes from ⌊(K−1)·S/N⌋ to ⌊K·S/N⌋ of a manifest's records. A record belongs to the shard if its first byte is in
  /// this range.
  ///
  /// - Parameter size: S, the number of bytes after the manifest's first line.
  func range(of size: Int64) -> Range<Int64> {
    boundary(number - 1, of: size)..<boundary(number, of: size)
  }

  /// ⌊K·S/N⌋. The product may need 128 bits; the quotient is at most S.
  private func boundary(_ number: Int, of size: Int64) -> Int64 {
    let product = UInt64(number).multipliedFullWidth(by: size.magnitude)
    return Int64(UInt64(count).dividingFullWidth(product).quotient)
  }
}

extension Shard {
  /// The environment variables in which job schedulers give a process its number, in the order in which they are looked up.
  /// All schedulers count from 0, unless the job says otherwise.
  ///
  /// A task of a Slurm array also has `SLURM_PROCID`, which is 0 in each task. So that variable comes last.
  package static let variables = [
    "JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX", "SLURM_ARRAY_TASK_ID", "SLURM_PROCID",
  ]

  /// The shard that the job scheduler names.
  ///
  /// N is never taken from the scheduler: Slurm's count of an array's tasks is smaller if only some of them run again.
  ///
  /// - Parameters:
  ///   - count: N, the number of shards.
  ///   - base: the number of the first task: 0, or 1 for arrays that begin with 1.
  ///   - environment: the process's environment variables.
  /// - Throws: `invalidShard` if no variable is set, or its value is not the number of a shard.
  public init(
    fromSchedulerOf count: Int, base: Int, in environment: [String: String]
  ) throws(BatchError) {
    guard
      let (name, value) = Self.variables.lazy
        .compactMap({ name in environment[name].map { (name, $0) } }).first
    else {
      throw BatchError(
        .invalidShard, on: "auto",
        "The shard is not known: none of \(Self.variables.joined(separator: ", ")) is set. Name it, as K/\(count)."
      )
    }
    guard value.isASCIIDigits, let index = Int(value), index <= Int.max - 1 else {
      throw BatchError(
        .invalidShard, on: name,
        "\(name) is \(value.quoted), which is not a number of a task: name the shard, as K/\(count)."
      )
    }
    let (number, overflow) = index.subtractingReportingOverflow(base - 1)
    if !overflow, let shard = Shard(number, of: count) {
      self = shard
      return
    }
    throw BatchError(
      .invalidShard, on: name, Self.outOfRange(name: name, index: index, count: count, base: base))
  }

  private static func outOfRange(name: String, index: Int, count: Int, base: Int) -> Message {
    let (end, isEndless) = base.addingReportingOverflow(count)
    let tasks = isEndless ? "\(base) and more" : "\(base) to \(end - 1)"
    let (fault, remedy) =
      index < base
      ? ("begins with \(index), shard \(count) would not be sent", "set the base to \(index)")
      : (
        "begins later than with \(base), shard 1 would not be sent",
        "set the base to its first number"
      )
    return
      "\(name) is \(index), and the tasks of \(count) shards are \(tasks). If the array \(fault): \(remedy)."
  }
}
