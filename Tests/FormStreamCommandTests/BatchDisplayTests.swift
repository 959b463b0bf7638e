import FormStreamBatch
import FormStreamCommand
import FormStreamHTTP
import Testing

@Suite struct BatchDisplayTests {
  private let page = Page()
  private let clock = StoppedClock()

  private func display(_ style: ProgressOutput) -> BatchDisplay {
    let clock = clock
    return BatchDisplay(style, on: page.stream(), now: { clock.now })
  }

  private static let mebibyte: Int64 = 1 << 20

  /// A run with a hundred files of 1 MiB, of which some have ended and one is half sent.
  private static func running(_ done: Int, isListed: Bool = true) -> BatchProgress {
    var snapshot = BatchProgress()
    (snapshot.listed, snapshot.isListed, snapshot.done) = (100, isListed, done)
    snapshot.handed = Int64(done) * mebibyte + mebibyte / 2
    (snapshot.read, snapshot.acknowledged) = (snapshot.handed, snapshot.handed)
    snapshot.total = isListed ? 100 * mebibyte : nil
    snapshot.left = 100 * mebibyte - snapshot.handed
    snapshot.requests = [
      BatchProgress.Request(
        id: 7, path: "photos/2026/summer/10.jpg", size: mebibyte, handed: mebibyte / 2)
    ]
    return snapshot
  }

  /// The lines of the last status that was drawn.
  private func lines() -> [String] {
    let text = page.take().replacing("\r\n", with: "\n")
    let last = text.split(separator: "\u{1B}[J").last { $0.contains("files") } ?? ""
    return last.split(separator: "\n").map {
      String($0).replacing("\u{1B}[K", with: "").replacing("\r", with: "")
        .replacing(/\u{1B}\[(\dA|\?7[lh])/, with: "")
    }
  }

  @Test func `the files whose URLs are compared are counted before those that are sent`() {
    let display = display(.bar(isColored: false))
    display.show(BatchProgress(.comparingURLs, of: 1))
    clock.advance(by: .seconds(2))
    display.show(BatchProgress(.comparingURLs, of: 12345))
    #expect(lines() == ["12345 files  comparing their URLs…"])
    clock.advance(by: .seconds(2))
    display.show(Self.running(10))
    #expect(lines().first?.hasPrefix("10 of 100 files") == true)
    let log = self.display(.heartbeat)
    log.show(BatchProgress(.comparingURLs, of: 1))
    clock.advance(by: .seconds(31))
    log.show(BatchProgress(.comparingURLs, of: 12345))
    #expect(page.take().hasSuffix("12345 files, comparing their URLs\n"))
    let records = self.display(.records)
    records.show(BatchProgress(.comparingURLs, of: 7))
    #expect(page.take().contains(#""phase":"comparing""#))
  }

  /// Regression: a terminal showed nothing while 300,000 files were compared.
  @Test func `the files that are compared with earlier rounds are counted`() {
    let bar = display(.bar(isColored: false))
    let steps: [(BatchPreparation, Int, bar: String, heartbeat: String)] = [
      (.reading, 1, "", ""),
      (.reading, 250_000, "250000 files of earlier rounds  reading…", "250000 files of earlier rounds, reading"),
      (.listing, 290_000, "290000 files  listing…", "290000 files, listing"),
      (.comparing(300_000), 120_000, "120000 of about 300000 files  comparing…", "120000 of about 300000 files, comparing"),
    ]
    for step in steps {
      bar.show(BatchProgress(step.0, of: step.1))
      #expect((lines().first ?? "") == step.bar)
      clock.advance(by: .seconds(2))
    }
    let log = display(.heartbeat)
    for step in steps {
      log.show(BatchProgress(step.0, of: step.1))
      #expect(page.take() == (step.heartbeat.isEmpty ? "" : "formstream: \(step.heartbeat)\n"))
      clock.advance(by: .seconds(31))
    }
  }

  /// Regression: after 300,000 files were compared and nothing was new, the bar ended with "0 of 0+ files  listing…".
  @Test func `the bar goes on only when a file is there to be sent`() {
    let bar = display(.bar(isColored: false))
    bar.show(BatchProgress(.comparing(300_000), of: 1))
    clock.advance(by: .seconds(2))
    bar.show(BatchProgress(.comparing(300_000), of: 300_000))
    #expect(lines() == ["300000 of about 300000 files  comparing…"])
    clock.advance(by: .seconds(2))
    bar.show(BatchProgress())
    #expect(lines() == ["300000 of about 300000 files  comparing…"])
    clock.advance(by: .seconds(2))
    bar.show(Self.running(10))
    #expect(lines().first?.hasPrefix("10 of 100 files") == true)
  }

  @Test func `before the first file is listed, none is counted`() {
    let bar = display(.bar(isColored: false))
    bar.show(BatchProgress())
    clock.advance(by: .seconds(2))
    bar.show(BatchProgress())
    #expect(lines().first?.hasPrefix("0 files  listing…") == true)
    let log = display(.heartbeat)
    log.show(BatchProgress())
    clock.advance(by: .seconds(31))
    log.show(BatchProgress())
    #expect(page.take().contains("0 files, listing"))
    // A run that was ended early lists no more.
    var last = Self.running(10, isListed: false)
    last.stage = .done
    clock.advance(by: .seconds(31))
    log.show(last)
    let line = page.take()
    #expect(line.contains("10 of 100+ files") && !line.contains("listing"), "\(line)")
  }

  @Test(arguments: [
    (
      80,
      [
        "10 of 100 files    10 MiB of 100 MiB   5.0 MiB/s  18 s left",
        "  photos/2026/summer/10.jpg   50 %  [==========>         ]   512 KiB of 1.0 MiB",
      ]
    ),
    (40, ["10 of 100 files    10 MiB  18 s left", "  …mmer/10.jpg   50 %   512 KiB"]),
    (30, ["10 of 100 files  18 s left", "  …mmer/10.jpg   50 %"]),
  ])
  func `the status fits its terminal`(_ width: Int, _ expected: [String]) {
    page.width = width
    let display = display(.bar(isColored: false))
    display.show(Self.running(0))
    clock.advance(by: .seconds(2))
    display.show(Self.running(10))
    #expect(lines() == expected)
  }

  @Test func `no line reaches the last column, and no name controls the terminal`() {
    let names = ["a", String(repeating: "写真/", count: 30), "a\u{1B}[2J\u{202E}\nb", "\u{7}"]
    let display = display(.bar(isColored: false))
    for width in 1...100 {
      page.width = width
      for stage in [BatchProgress.Stage.sending, .slowed, .stopping] {
        var step = Self.running(50, isListed: width % 2 == 0)
        step.stage = stage
        step.failed = 12
        step.requests = names.enumerated().map {
          .init(id: $0, path: $1, size: 1 << 40, handed: 1 << 39)
        }
        clock.advance(by: .milliseconds(400))
        display.show(step)
        for line in lines() {
          #expect(columns(of: line) <= width - 1, "\(line)")
          #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\u{202E}" })
        }
      }
    }
  }

  @Test func `a short run has no status, and at the end nothing is left of it`() {
    let display = display(.bar(isColored: true))
    display.show(Self.running(0))
    clock.advance(by: .milliseconds(299))
    display.show(Self.running(1))
    #expect(page.take() == "")
    clock.advance(by: .milliseconds(1))
    display.show(Self.running(2))
    #expect(page.openLines == 2)
    display.finish(Self.running(100))
    #expect(page.take().hasSuffix("\r\u{1B}[J"))
    #expect(page.openLines == 0)
    display.show(Self.running(100))
    #expect(page.take() == "")
  }

  @Test func `at most four requests have a line, and only if they take long enough to be read`() {
    let display = display(.bar(isColored: false))
    var step = Self.running(0)
    for id in 0..<100 {
      clock.advance(by: .milliseconds(200))
      step.requests = [.init(id: id, path: "\(id)", size: 9, handed: 3)]
      display.show(step)
      #expect(lines().count < 2)
    }
    step.requests = (0..<9).map { .init(id: $0, path: "f\($0)", size: 9, handed: 3) }
    display.show(step)
    clock.advance(by: .milliseconds(300))
    display.show(step)
    let shown = lines().dropFirst().map { String($0.split(separator: " ")[0]) }
    #expect(shown == ["f0", "f1", "f2", "f3"])
    // Their counts are below each other.
    step.requests[1].path = "a longer name"
    clock.advance(by: .milliseconds(100))
    display.show(step)
    #expect(Set(lines().dropFirst().map { $0.firstIndex(of: "%")?.utf16Offset(in: $0) }).count == 1)
  }

  @Test(arguments: [
    (
      BatchProgress.Stage.sending, true, 0,
      "10 of 100 files    10 MiB of 100 MiB   5.0 MiB/s  18 s left"
    ),
    (.sending, false, 0, "10 of 100+ files  listing…    10 MiB   5.0 MiB/s"),
    (
      .sending, true, 3,
      "10 of 100 files  3 with errors    10 MiB of 100 MiB   5.0 MiB/s  18 s left"
    ),
    (
      .slowed, true, 0,
      "10 of 100 files  server overloaded, slowed down    10 MiB of 100 MiB   5.0 MiB/s"
    ),
    (.stopping, false, 0, "10 of 100+ files  stopping    10 MiB   5.0 MiB/s"),
  ])
  func `the first line says how the run goes`(
    _ stage: BatchProgress.Stage, _ isListed: Bool, _ failed: Int, _ line: String
  ) {
    page.width = 100
    let display = display(.bar(isColored: false))
    display.show(Self.running(0))
    clock.advance(by: .seconds(2))
    var step = Self.running(10, isListed: isListed)
    (step.stage, step.failed) = (stage, failed)
    display.show(step)
    #expect(lines().first == line)
  }

  /// Empty files have no bytes whose rate would say something.
  @Test func `the time left is that of the files if it is longer than that of the bytes`() {
    let display = display(.bar(isColored: false))
    var step = BatchProgress()
    (step.listed, step.isListed, step.total) = (1000, true, 0)
    display.show(step)
    clock.advance(by: .seconds(2))
    step.done = 100
    display.show(step)
    #expect(lines().first == "100 of 1000 files       0 B       0 B/s  18 s left")
  }

  @Test func `files that an earlier run sent don't count for the rate`() {
    let display = display(.bar(isColored: false))
    var step = BatchProgress()
    (step.listed, step.isListed, step.total) = (1000, true, 0)
    display.show(step)
    clock.advance(by: .seconds(2))
    (step.done, step.skipped) = (900, 800)
    display.show(step)
    #expect(lines().first?.hasSuffix("2 s left") == true)
  }

  @Test func `a heartbeat is written every 30 seconds`() {
    let display = display(.heartbeat)
    display.show(Self.running(0, isListed: false))
    for second in 1...29 {
      clock.advance(by: .seconds(1))
      display.show(Self.running(second, isListed: false))
    }
    #expect(page.take() == "")
    clock.advance(by: .seconds(1))
    display.show(Self.running(30, isListed: false))
    #expect(page.take() == "formstream: 30 of 100+ files, listing, 30 MiB sent, 1.0 MiB/s\n")
    var step = Self.running(60)
    (step.stage, step.failed) = (.slowed, 2)
    clock.advance(by: .seconds(30))
    display.show(step)
    #expect(
      page.take()
        == "formstream: 60 of 100 files, 2 with errors, 60 MiB of 100 MiB sent (60 %), the server is overloaded, "
        + "1.0 MiB/s\n")
    display.finish(Self.running(100))
    #expect(page.take() == "")
  }

  @Test func `a record has the files, the bytes and what is on its way`() {
    let display = display(.records)
    display.show(Self.running(0, isListed: false))
    #expect(
      page.take()
        == #"{"schema":"formstream.progress/2","phase":"sending","read":524288,"handed":524288,"#
        + #""acknowledged":524288,"total":null,"received":0,"response_total":null,"#
        + #""parts":[{"name":"photos/2026/summer/10.jpg","sent":524288,"size":1048576}],"#
        + #""files_done":0,"files_total":null,"rate":null,"eta":null}"# + "\n")
    clock.advance(by: .seconds(2))
    var step = Self.running(10)
    step.acknowledged = 7_000_000
    display.show(step)
    #expect(
      page.take()
        == #"{"schema":"formstream.progress/2","phase":"sending","read":11010048,"handed":11010048,"#
        + #""acknowledged":7000000,"total":104857600,"received":0,"response_total":null,"#
        + #""parts":[{"name":"photos/2026/summer/10.jpg","sent":524288,"size":1048576}],"#
        + #""files_done":10,"files_total":100,"rate":5242880,"eta":18.0}"# + "\n")
    display.show(step)
    clock.advance(by: .seconds(1))
    display.show(step)
    #expect(page.take() == "")
    step = BatchProgress()
    (step.stage, step.done, step.listed, step.isListed) = (.done, 100, 100, true)
    (step.handed, step.total, step.acknowledged) = (100 << 20, 100 << 20, 100 << 20)
    display.finish(step)
    #expect(page.take().contains(#""phase":"done","read":11010048,"handed":104857600"#))
  }

  /// A request failed, and the file is sent again.
  @Test func `the counts never decrease`() {
    let display = display(.records)
    display.show(Self.running(10))
    _ = page.take()
    clock.advance(by: .seconds(1))
    var step = Self.running(10)
    (step.handed, step.read, step.acknowledged) = (10, 10, 10)
    step.done = 11
    display.show(step)
    #expect(
      page.take().contains(#""read":11010048,"handed":11010048,"acknowledged":11010048,"#))
  }

  /// The only file was handed over completely, and is sent again.
  @Test func `all is handed over only when the last byte was handed over again`() {
    let display = display(.records)
    var step = Self.running(99)
    step.handed = 100 * Self.mebibyte
    display.show(step)
    #expect(page.take().contains(#""handed":104857600,"#))
    clock.advance(by: .seconds(1))
    step.handed = 99 * Self.mebibyte
    display.show(step)
    #expect(page.take().contains(#""handed":104857599,"#))
    clock.advance(by: .seconds(1))
    step.handed = 100 * Self.mebibyte
    display.show(step)
    #expect(page.take().contains(#""handed":104857600,"#))
  }

  @Test func `if progress is silent, nothing is written`() {
    let display = display(.silence)
    display.show(Self.running(0))
    clock.advance(by: .seconds(100))
    display.show(Self.running(50))
    display.finish(Self.running(100))
    #expect(page.take() == "")
  }
}
