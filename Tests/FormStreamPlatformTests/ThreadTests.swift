import FormStreamPlatform
import Glibc
import Testing

@Suite(.timeLimit(.minutes(2))) struct ThreadTests {
  /// Runs `body` on a new thread and returns its result.
  private func onThread<Result: Sendable>(
    _ name: String, _ body: @escaping @Sendable () -> Result
  ) -> Result? {
    let result = Guarded<Result?>(nil)
    guard startThread(name, { result.withLock { $0 = body() } }) else { return nil }
    return result.waitUntil({ $0 != nil }) { $0 }
  }

  /// The name of this thread, as `top -H` shows it.
  private static func currentName() -> String {
    guard let file = fopen("/proc/thread-self/comm", "r") else { return "" }
    defer { fclose(file) }
    var buffer = [CChar](repeating: 0, count: 64)
    guard fgets(&buffer, 64, file) != nil else { return "" }
    return String(
      decoding: buffer.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  @Test func `a thread has its name, cut after 15 bytes`() {
    #expect(onThread("fs-engine") { Self.currentName() } == "fs-engine")
    #expect(onThread("0123456789abcdefgh") { Self.currentName() } == "0123456789abcde")
  }

  @Test func `a write to a closed pipe fails, and the process goes on`() {
    let error = onThread("pipe") { () -> SystemError? in
      ignoreBrokenPipesOnThisThread()
      var ends: [Int32] = [0, 0]
      guard pipe(&ends) == 0 else { return nil }
      close(ends[0])
      defer { close(ends[1]) }
      do {
        try [UInt8(0)].withUnsafeBytes { try writeAll($0, to: ends[1]) }
        return nil
      } catch {
        return error as? SystemError
      }
    }
    #expect(error??.isBrokenPipe == true)
  }
}

@Suite struct SystemCallTests {
  @Test func `an interrupted call is repeated`() throws {
    var calls = 0
    let result = try retryingInterrupts { () -> Int in
      calls += 1
      guard calls < 3 else { return 7 }
      errno = EINTR
      return -1
    }
    #expect(result == 7)
    #expect(calls == 3)
  }

  @Test func `a call that fails in another way is not repeated`() {
    var calls = 0
    #expect(throws: SystemError(number: EACCES)) {
      try retryingInterrupts { () -> Int in
        calls += 1
        errno = EACCES
        return -1
      }
    }
    #expect(calls == 1)
  }

  @Test func `a full non-blocking pipe is waited for`() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    let (reading, writing) = (ends[0], ends[1])
    try #require(fcntl(writing, F_SETFL, O_NONBLOCK) == 0)
    let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    let failure = Guarded<(any Error)?>(nil)
    #expect(
      startThread("writing") {
        do { try bytes.withUnsafeBytes { try writeAll($0, to: writing) } } catch {
          failure.withLock { $0 = error }
        }
        close(writing)
      })
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = read(reading, &buffer, buffer.count)
      guard count > 0 else { break }
      received += buffer[..<count]
    }
    close(reading)
    #expect(received == bytes)
    #expect(failure.withLock { $0 == nil })
  }

  @Test func `an error contains the system's message`() {
    #expect(SystemError(number: ENOENT).description == "No such file or directory")
    #expect("\(SystemError(number: 99_999))" == "error 99999")
  }
}

@Suite struct QuotedTextTests {
  @Test func `a text of up to 80 bytes is quoted in full`() {
    let text = String(repeating: "a", count: 80)
    #expect("".quoted == "\"\"")
    #expect(text.quoted == "\"\(text)\"")
    #expect((text + "b").quoted == "\"\(text)…\" (81 bytes)")
  }

  @Test(arguments: [
    ("a", true), ("é", true), ("\u{200D}", true), ("\u{FE0F}", true), ("\u{1B}", false),
    ("\n", false), ("\u{7F}", false), ("\u{85}", false), ("\u{2028}", false),
    ("\u{202E}", false), ("\u{200B}", false), ("\u{FEFF}", false),
  ])
  func `only scalars that neither hide nor control are displayed`(
    _ text: String, _ isSafe: Bool
  ) throws {
    let scalar = try #require(text.unicodeScalars.first)
    #expect(scalar.isSafeToDisplay == isSafe)
  }

  @Test func `other scalars are displayed as escapes`() {
    #expect(Unicode.Scalar(0x1B).escaped == "\\u{1B}")
  }
}
