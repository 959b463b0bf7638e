import FormStream
import Foundation
import FormStreamTestSupport
import FormStreamTransfer

// Cancels requests at random points, in a separate process, and prints what is left of them:
//
//     rounds 1000
//     outcomes cancelled 700 ok 200 …
//     sources OPENED CLOSED
//     threads BEFORE AFTER
//     descriptors BEFORE AFTER
//     resident BEFORE AFTER    (KiB)
//     left [THREADS] [DESCRIPTORS]

/// A slow source that counts how often it is opened and closed.
final class CountedSource: ByteSource {
  private var left: Int
  private let counts: Counts

  init(_ count: Int, _ counts: Counts) {
    left = count
    self.counts = counts
    counts.add(opened: 1)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
    usleep(UInt32.random(in: 0...300))
    let count = min(left, buffer.count, 16 * 1024)
    for index in 0..<count { buffer[index] = 7 }
    left -= count
    return count
  }

  func close() { counts.add(closed: 1) }
}

final class Counts: @unchecked Sendable {
  private let lock = NSLock()
  private(set) var opened = 0
  private(set) var closed = 0
  private(set) var outcomes: [String: Int] = [:]

  func add(opened: Int = 0, closed: Int = 0, outcome: String? = nil) {
    lock.withLock {
      self.opened += opened
      self.closed += closed
      if let outcome { outcomes[outcome, default: 0] += 1 }
    }
  }
}

/// Sends `count` requests, eight at a time, and cancels each after a random time, in which some end by themselves.
func rounds(_ count: Int, _ counts: Counts, file: LocalPath) async throws {
  var options = ScriptedServer.Options()
  options.keptBodyLimit = 0
  let server = try ScriptedServer(options) { request in
    switch request.number % 5 {
    case 0: [.stall]
    case 1: [.continueIfExpected, .readBody(upTo: 100_000), .reset]
    case 2: [.continueIfExpected, .readBody, .stall]
    default: .good(body: "thanks")
    }
  }
  let session = try TransferSession()
  let url = try HTTPURL(server.url)
  try await withThrowingTaskGroup { group in
    for lane in 0..<8 {
      group.addTask {
        for round in stride(from: lane, to: count, by: 8) {
          let body: TransferBody =
            switch round % 4 {
            case 0: .bytes(noise(200_000))
            case 1: .file(file)
            case 2: .part(.stream { CountedSource(400_000, counts) })
            default:
              .part(.stream(length: 400_000, replay: .once) { CountedSource(400_000, counts) })
            }
          var request = TransferRequest(.post, url, body: body)
          request.options.expectation = .never
          request.options.retry = RetryPolicy(attempts: 3)
          request.options.retry.baseDelay = .milliseconds(5)
          let task = session.start(request)
          try await Task.sleep(for: .microseconds(Int.random(in: 0...12_000)))
          if round % 7 == 0 { task.pause() }
          if round % 11 == 0 { _ = task.makeFoundationProgress() }
          task.cancel()
          counts.add(outcome: await task.result.outcome.rawValue)
        }
      }
    }
    try await group.waitForAll()
  }
  server.stop()
}

/// Waits until the threads of all sessions have ended, and no more threads and descriptors exist than before, for ten
/// seconds at most.
func settle(to before: ProcessResources?) async throws -> ProcessResources {
  var now = ProcessResources.now()
  for _ in 0..<1000 {
    let isQuiet = !now.threads.contains { ["formstream-net", "formstream-work"].contains($0) }
    let isBack = before.map {
      now.threads.count <= $0.threads.count && now.descriptors.count <= $0.descriptors.count
    }
    if isQuiet, isBack ?? true { break }
    try await Task.sleep(for: .milliseconds(10))
    now = ProcessResources.now()
  }
  return now
}

let count = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 1000
let place = try TemporaryDirectory()
let file = try place.sparse("large", size: 8 << 20)
// The first rounds allocate what every process allocates once.
try await rounds(200, Counts(), file: file)
let before = try await settle(to: nil)
let counts = Counts()
try await rounds(count, counts, file: file)
let after = try await settle(to: before)
let outcomes = counts.outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
print("rounds", count)
print("outcomes", outcomes.joined(separator: " "))
print("sources", counts.opened, counts.closed)
print("threads", before.threads.count, after.threads.count)
print("descriptors", before.descriptors.count, after.descriptors.count)
print("resident", before.residentKiB, after.residentKiB)
print("left", Set(after.threads).sorted(), Set(after.descriptors).sorted())
