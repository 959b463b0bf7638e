import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Glibc
import Testing

@testable import FormStreamCommand

/// The queue of a receiver's lines: what it says about lines that were not written.
@Suite struct LogQueueTests {
  private static func queue(to path: String, onFailure: @escaping @Sendable (Failure) -> Void = { _ in }) throws -> LogQueue {
    LogQueue(
      to: try OutputFile(.path(LocalPath(path))), lineAboutLoss: { Array("\($0) lost\n".utf8) }, onFailure: onFailure)
  }

  @Test func `lines that had no room are lost, and why is said`() throws {
    let queue = try Self.queue(to: "/dev/full")
    try #require(queue.start(with: []))
    for number in 1...3 { queue.add(.output(Array("line \(number)\n".utf8))) }
    queue.add(.trace(["two", "lines"]))
    let (lost, reason) = queue.close()
    #expect(lost == 3 && reason?.exit == .inputOutput)
    #expect(reason?.message.contains("No space left on device") == true, "\(String(describing: reason))")
  }

  @Test func `without a loss there is no reason`() throws {
    let place = try TemporaryDirectory()
    let queue = try Self.queue(to: place.path("log"))
    try #require(queue.start(with: [.output(Array("first\n".utf8))]))
    queue.add(.output(Array("second\n".utf8)))
    let (lost, reason) = queue.close()
    #expect(lost == 0 && reason == nil)
  }

  /// A reader that is gone is no want of room.
  @Test func `lines for a reader that is gone are lost for another reason`() throws {
    let place = try TemporaryDirectory()
    signal(SIGPIPE, SIG_IGN)
    try #require(mkfifo(place.path("log"), 0o600) == 0)
    let reader = open(place.path("log"), O_RDONLY | O_NONBLOCK)
    let failed = AutoResetEvent()
    let queue = try Self.queue(to: place.path("log")) { _ in failed.signal() }
    close(reader)
    try #require(queue.start(with: []))
    queue.add(.output(Array("line\n".utf8)))
    failed.wait(atMost: nil)
    #expect(queue.close().reason == nil)
  }
}
