import FormStreamMultipart
import FormStreamTestSupport
import Testing

@testable import FormStreamBatch

@Suite struct ShardTests {
  private let place: TemporaryDirectory

  init() throws { place = try TemporaryDirectory(inMemory: true) }

  /// Writes a manifest whose records have paths of these lengths, or a field of them. Returns where each begins.
  private func manifest(_ lengths: [Int]) throws -> (path: LocalPath, offsets: [Int64]) {
    var encoder = ManifestEncoder(root: nil)
    var (bytes, offsets) = (encoder.header, [Int64]())
    for length in lengths {
      offsets.append(encoder.offset)
      let text = String(repeating: "a", count: length)
      bytes += encoder.line(
        for: length < 4096
          ? BatchFile(path: LocalPath(text))
          : BatchFile(path: "a", fields: [.init(name: "a", value: text)]))
    }
    return (try place.write("manifest", bytes), offsets)
  }

  private func offsets(_ path: LocalPath, _ number: Int, of count: Int) throws -> [Int64] {
    let reader = try ManifestReader(path, shard: Shard(number, of: count))
    var (offsets, indices) = ([Int64](), [Int]())
    while let file = try reader.next() {
      offsets.append(file.offset)
      indices.append(file.index)
    }
    #expect(indices == Array(indices.indices))
    return offsets
  }

  @Test func `each record is in one shard, for every number of shards up to one for each byte`()
    throws
  {
    let (path, expected) = try manifest([1, 40, 1, 7])
    for count in Array(1...40) + [199, 200, 201, 1_000_000, .max] {
      var found: [Int64] = []
      // Of very many shards, those are read that may have a record.
      let numbers = count <= 1000 ? Array(1...count) : []
      for number in numbers { found += try offsets(path, number, of: count) }
      if !numbers.isEmpty { #expect(found == expected, "\(count) shards") }
    }
    _ = try offsets(path, 1, of: .max)
    _ = try offsets(path, .max, of: .max)
    _ = try offsets(path, .max / 2, of: .max)
  }

  @Test func `each record is in one shard, for records of all sizes`() throws {
    var random = SeededSequence(seed: 7)
    for round in 0..<10 {
      // Some longer than the pieces that are read, and many of the same size.
      var lengths = (0..<Int(random.next() % 20)).map { _ in
        switch random.next() % 8 {
        case 0: 1
        case 1: Int(random.next() % 1000) + 1
        default: 20
        }
      }
      if round == 0 { lengths.insert(300_000, at: 3) }
      let (path, expected) = try manifest(lengths)
      for _ in 0..<3 {
        let count = Int(random.next() % 20) + 1
        var found: [Int64] = []
        for number in 1...count { found += try offsets(path, number, of: count) }
        #expect(found == expected, "\(lengths), \(count) shards")
      }
    }
  }

  @Test func `shards share the bytes as the contract says`() {
    for size: Int64 in [0, 1, 99, 100, 101, 10_000_000_000, .max - 1, .max] {
      for count in [1, 2, 3, 64, 1000, Int.max - 1, Int.max] {
        let numbers = count <= 1000 ? Array(1...count) : [1, 2, count / 2, count - 1, count]
        var last: Int64?
        for number in numbers {
          guard let shard = Shard(number, of: count) else {
            Issue.record("\(number) of \(count)")
            continue
          }
          let range = shard.range(of: size)
          if count <= 1000 { #expect(range.lowerBound == last ?? 0) }
          last = range.upperBound
          #expect(number < count || range.upperBound == size)
        }
      }
    }
    #expect(Shard(2, of: 3)?.range(of: 100) == 33..<66)
  }

  @Test func `a number that is no shard's is refused`() {
    #expect(Shard(0, of: 1) == nil)
    #expect(Shard(2, of: 1) == nil)
    #expect(Shard(-1, of: 1) == nil)
    #expect(Shard(1, of: 0) == nil)
    #expect(Shard(1, of: 1)?.description == "1/1")
  }

  @Test func `the last shard of a terabyte is read without the rest`() throws {
    let path = try place.sparse("manifest", size: 1 << 40)
    let encoder = ManifestEncoder(root: nil)
    var tail: [UInt8] = Array("\n".utf8)
    for name in ["a", "b", "c"] {
      tail += ManifestEncoder.line(for: BatchFile(path: LocalPath(name)))
    }
    try patch(path, at: 0, encoder.header)
    try patch(path, at: (1 << 40) - Int64(tail.count), tail)
    // Shards of about 64 bytes, so the last ones begin in the records at the end.
    let reader = try ManifestReader(path, shard: Shard(1 << 34, of: 1 << 34))
    #expect(try reader.next()?.path == "c")
    #expect(try reader.next() == nil)
  }

  private func patch(_ path: LocalPath, at offset: Int64, _ bytes: [UInt8]) throws {
    let run = try run(
      program: "/bin/dd",
      ["of=\(path)", "conv=notrunc", "oflag=seek_bytes", "seek=\(offset)", "status=none"],
      standardInput: bytes)
    try #require(run.exit == 0)
  }

  @Test func `the scheduler's variables are asked in their order`() throws {
    func shard(_ environment: [String: String], of count: Int = 4, base: Int = 0) throws -> Int {
      try Shard(fromSchedulerOf: count, base: base, in: environment).number
    }
    #expect(try shard(["JOB_COMPLETION_INDEX": "0"]) == 1)
    #expect(try shard(["AWS_BATCH_JOB_ARRAY_INDEX": "3"]) == 4)
    #expect(try shard(["SLURM_ARRAY_TASK_ID": "2", "SLURM_PROCID": "0"]) == 3)
    #expect(try shard(["SLURM_PROCID": "1"]) == 2)
    #expect(try shard(["SLURM_ARRAY_TASK_ID": "4"], base: 1) == 4)
    // A re-run of two tasks of 64 has this count.
    #expect(
      try shard(["SLURM_ARRAY_TASK_ID": "5", "SLURM_ARRAY_TASK_COUNT": "2"], of: 64) == 6)
  }

  @Test func `a number that no shard has says which one would not be sent`() throws {
    func message(
      _ environment: [String: String], of count: Int = 4, base: Int = 0
    ) -> String {
      let error = #expect(throws: BatchError.self) {
        try Shard(fromSchedulerOf: count, base: base, in: environment)
      }
      #expect(error?.code == .invalidShard)
      return error?.description ?? ""
    }
    #expect(
      message(["SLURM_ARRAY_TASK_ID": "4"])
        == "SLURM_ARRAY_TASK_ID is 4, and the tasks of 4 shards are 0 to 3. If the array begins later than with 0, "
        + "shard 1 would not be sent: set the base to its first number.")
    #expect(
      message(["JOB_COMPLETION_INDEX": "0"], base: 1)
        == "JOB_COMPLETION_INDEX is 0, and the tasks of 4 shards are 1 to 4. If the array begins with 0, shard 4 "
        + "would not be sent: set the base to 0.")
    for value in ["", "-1", "x", "1.0", "99999999999999999999", "9223372036854775807", " 1"] {
      #expect(message(["SLURM_PROCID": value]).hasPrefix("SLURM_PROCID is "))
    }
    #expect(message([:]).contains("SLURM_PROCID"))
    _ = message(["SLURM_PROCID": "5"], of: .max, base: .max)
  }
}
