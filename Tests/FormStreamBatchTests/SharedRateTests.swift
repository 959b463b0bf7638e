import FormStreamBatch
import FormStreamHTTP
import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Testing

/// One rate for all requests of a batch.
@Suite struct SharedRateTests {
  /// Sends bodies of a size over a rate, and returns after how many seconds of the clock each was sent.
  ///
  /// - Parameter count: how many requests are sent at the same time.
  private func times(_ count: Int, of size: Int64, at rate: Int64) -> [Double] {
    let begin = ContinuousClock.now
    let shared = SharedRate { rate }
    var left = Array(repeating: size, count: count)
    var grants = left.map { shared.take(upTo: $0, at: begin) }
    var ends = Array(repeating: begin, count: count)
    // The request whose grant begins first reads its bytes, and takes its next grant at that moment.
    while let next = left.indices.filter({ left[$0] > 0 }).min(by: { grants[$0].begin < grants[$1].begin }) {
      left[next] -= grants[next].count
      ends[next] = grants[next].begin
      if left[next] > 0 { grants[next] = shared.take(upTo: left[next], at: grants[next].begin) }
    }
    return ends.map { begin.duration(to: $0) / .seconds(1) }
  }

  /// Regression: each request had the rate divided by the number of requests that there might be.
  @Test(arguments: [1, 4, 48])
  func `requests together have the rate, however many they are`(_ count: Int) {
    let rate: Int64 = 2_000_000
    let ends = times(count, of: 2 * rate / Int64(count), at: rate)
    // The last grant begins before its own bytes are paid for.
    #expect(ends.allSatisfy { $0 <= 2 } && ends.max() ?? 0 > 1.8, "\(ends.sorted())")
  }

  @Test func `requests have equal shares`() {
    let ends = times(8, of: 1_000_000, at: 1_000_000)
    #expect(ends.allSatisfy { (7.0...8.0).contains($0) }, "\(ends)")
  }

  @Test func `a turn comes soon, and grants are not tiny`() {
    let (shared, now) = (SharedRate { 2_000_000 }, ContinuousClock.now)
    let grants = (0..<1000).map { _ in shared.take(upTo: .max, at: now) }
    #expect(grants.allSatisfy { $0.begin <= now + .seconds(8) && $0.count >= 1024 })
    #expect(grants[0].count == 250_000 && grants[0].begin == now)
  }

  @Test(arguments: [1, 7, 1 << 40, .max] as [Int64])
  func `any rate can be shared`(_ rate: Int64) {
    let (shared, now) = (SharedRate { rate }, ContinuousClock.now)
    let grants = (0..<100).map { _ in shared.take(upTo: .max, at: now) }
    #expect(grants.allSatisfy { $0.count >= 1 && $0.begin >= now })
    let seconds = now.duration(to: grants[99].begin) / .seconds(1)
    #expect(grants.dropLast().reduce(0) { $0 + Double($1.count) } <= (seconds + 1e-6) * Double(rate))
  }

  @Test func `a rate changes at once, and what was not sent is given back`() {
    let rate = Guarded<Int64?>(1000)
    let (shared, now) = (SharedRate { rate.withLock(\.self) }, ContinuousClock.now)
    let first = shared.take(upTo: .max, at: now)
    #expect(shared.take(upTo: 1, at: now).begin > now)
    shared.giveBack(first.count)
    #expect(shared.take(upTo: 10, at: now + .milliseconds(2)).begin <= now + .milliseconds(2))
    rate.withLock { $0 = nil }
    let unlimited = shared.take(upTo: 5_000_000, at: now)
    #expect(unlimited.count == 5_000_000 && unlimited.begin == now)
  }

  /// What was granted while there was no limit would be hours of the rate.
  @Test func `what is given back is no more than the share of a second`() {
    let rate = Guarded<Int64?>(nil)
    let (shared, now) = (SharedRate { rate.withLock(\.self) }, ContinuousClock.now)
    let unlimited = shared.take(upTo: .max, at: now)
    rate.withLock { $0 = 1000 }
    // Others have taken the next seconds.
    var next = shared.take(upTo: .max, at: now)
    while next.begin < now + .seconds(3) { next = shared.take(upTo: .max, at: now) }
    shared.giveBack(unlimited.count)
    #expect(shared.take(upTo: 1, at: now).begin >= now + .seconds(2))
  }

  /// Regression: with 1000 requests at the same time, a file that was alone had a thousandth of the rate.
  @Test(.timeLimit(.minutes(2)), arguments: [(1, 1000), (30, 30), (5, 2)])
  func `files are sent at the rate of all`(_ files: Int, _ concurrency: Int) async throws {
    let server = try ScriptedServer { _ in .good(200) }
    let place = try TemporaryDirectory()
    for number in 0..<files { try place.make("in/f\(number)", size: 300_000 / files) }
    var batch = try Batch([.path(place.local("in"))], to: server.url)
    batch.request.options.maximumRate = 300_000
    batch.concurrency = concurrency
    let task = try await batch.start()
    // Requests that are paused while they wait for their turn go on.
    task.pause()
    task.resume()
    let totals = try await task.end()
    #expect(totals[.ok] == files && server.faults.isEmpty)
    #expect(server.requests.reduce(0) { $0 + $1.bodyCount } > 300_000)
  }

  @Test(.timeLimit(.minutes(2))) func `streams of HTTP/2 wait for their turns as well`() async throws {
    let server = try ScriptedHTTP2Server { _ in .good() }
    let place = try TemporaryDirectory()
    for number in 0..<20 { try place.make("in/f\(number)", size: 10_000) }
    var batch = try Batch([.path(place.local("in"))], to: server.url)
    batch.session.version = .http2
    batch.request.options.maximumRate = 200_000
    batch.concurrency = 10
    let totals = try await batch.start().end()
    #expect(totals[.ok] == 20 && server.requests.count == 20)
  }

  @Test func `asking costs nothing noticeable`() async throws {
    // A request asks once for each grant. Without a limit, a grant has 8 MiB.
    let asked = Guarded(0)
    let server = try ScriptedServer { _ in .good(200) }
    let place = try TemporaryDirectory()
    let file = try place.sparse("film", size: 100 << 20)
    var request = try TransferRequest(.post, server.url)
    request.body = .file(file)
    request.options.sharedRate = SharedRate {
      asked.withLock { $0 += 1 }
      return nil
    }
    let result = await (try TransferSession()).start(request).result
    #expect(result.outcome == .ok && asked.withLock(\.self) <= 14)
  }
}
