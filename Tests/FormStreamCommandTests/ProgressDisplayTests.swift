import FormStreamCommand
import Testing
import FormStreamHTTP

@Suite struct ProgressDisplayTests {
  private let page = Page()
  private let clock = StoppedClock()

  private func display(_ style: ProgressOutput, file: String? = nil) -> ProgressDisplay {
    let clock = clock
    return ProgressDisplay(style, file: file, on: page.stream(), now: { clock.now })
  }

  private static func sending(_ handed: Int64, of total: Int64? = 1000) -> ProgressSnapshot {
    ProgressSnapshot(phase: .sending, read: handed, handed: handed, total: total)
  }

  // MARK: The bar

  @Test func `a short request has no bar`() {
    let display = display(.bar(isColored: false))
    display.show(ProgressSnapshot(phase: .connecting))
    clock.advance(by: .milliseconds(299))
    display.show(Self.sending(1000))
    display.finish(ProgressSnapshot(phase: .done, handed: 1000, total: 1000))
    #expect(page.take() == "")
  }

  @Test func `the bar is redrawn ten times a second, even if nothing moves`() {
    let display = display(.bar(isColored: false), file: "photo.jpg")
    display.show(Self.sending(0))
    clock.advance(by: .milliseconds(300))
    var draws = 0
    for step in 1...200 {
      display.show(Self.sending(Int64(step)))
      display.tick()
      draws += page.take().count(of: "\u{1B}[J")
      clock.advance(by: .milliseconds(10))
    }
    #expect(draws == 20)
    page.width = 40
    display.tick()
    #expect(page.take() == "\r\u{1B}[?7lphoto.jpg   20 %     200 B  10 s left\u{1B}[J\u{1B}[?7h\r")
    // Five seconds later the rate is zero, so there is no time left to show.
    for _ in 1...60 {
      clock.advance(by: .milliseconds(100))
      display.tick()
    }
    #expect(
      page.take().hasSuffix("\r\u{1B}[?7lphoto.jpg   20 %     200 B of 1000 B\u{1B}[J\u{1B}[?7h\r"))
  }

  @Test func `at the end a line stays, and the cursor is below it`() {
    let display = display(.bar(isColored: false))
    display.show(Self.sending(0))
    clock.advance(by: .seconds(34))
    display.show(Self.sending(500))
    #expect(
      page.take()
        == "\r\u{1B}[?7l 50 %  [=============>             ]     500 B of 1000 B      14 B/s  34 s left\u{1B}[J\u{1B}[?7h\r"
    )
    #expect(page.openLines == 1)
    display.finish(
      ProgressSnapshot(phase: .done, handed: 1000, total: 1000, elapsed: .seconds(34)))
    #expect(page.take() == "\r\u{1B}[Jformstream: 1000 B sent in 34 s, 29 B/s on average\n")
    #expect(page.openLines == 0)
    display.show(Self.sending(500))
    display.tick()
    display.finish(Self.sending(500))
    #expect(page.take() == "")
  }

  @Test func `a body that was not sent completely is not reported as sent`() {
    let display = display(.bar(isColored: false))
    display.show(Self.sending(0))
    clock.advance(by: .seconds(2))
    display.tick()
    _ = page.take()
    display.finish(ProgressSnapshot(phase: .done, handed: 999, total: 1000, elapsed: .seconds(2)))
    #expect(
      page.take()
        == "\r\u{1B}[Jformstream: 999 B of 1000 B sent (99 %) in 2.0 s, 499 B/s on average\n")
  }

  @Test func `if there is no last state, the bar is erased at the end`() {
    let display = display(.bar(isColored: false))
    display.show(Self.sending(0))
    clock.advance(by: .seconds(2))
    display.tick()
    _ = page.take()
    display.finish(nil as ProgressSnapshot?)
    #expect(page.take() == "\r\u{1B}[J")
  }

  // MARK: The heartbeat

  @Test func `a heartbeat is written every 30 seconds`() {
    let display = display(.heartbeat)
    display.show(Self.sending(0, of: 1_288_490_189))
    for second in 1...29 {
      clock.advance(by: .seconds(1))
      display.show(Self.sending(Int64(second) * 36_700_160, of: 1_288_490_189))
    }
    #expect(page.take() == "")
    clock.advance(by: .seconds(1))
    display.tick()
    #expect(page.take() == "formstream: 1015 MiB of 1.2 GiB sent (82 %), 28 MiB/s, 8 s left\n")
    clock.advance(by: .seconds(29))
    display.show(ProgressSnapshot(phase: .waiting, handed: 1_288_490_189, total: 1_288_490_189))
    #expect(page.take() == "")
    clock.advance(by: .seconds(1))
    display.tick()
    #expect(page.take() == "formstream: 1.2 GiB sent, waiting for the response\n")
    display.finish(
      ProgressSnapshot(
        phase: .done, handed: 1_288_490_189, total: 1_288_490_189, elapsed: .seconds(61)))
    #expect(page.take() == "formstream: 1.2 GiB sent in 1 min 01 s, 20 MiB/s on average\n")
  }

  @Test(arguments: [
    (ShownProgress(phase: .connecting, total: 10), "connecting"),
    (
      ShownProgress(phase: .sending, handed: 128_974_848, total: 1_288_490_189, rate: 36_700_160),
      "123 MiB of 1.2 GiB sent (10 %), 35 MiB/s, 32 s left"
    ),
    (
      ShownProgress(phase: .sending, handed: 128_974_848, rate: 36_700_160),
      "123 MiB sent, 35 MiB/s"
    ),
    (
      ShownProgress(phase: .sending, handed: 0, total: 10, rate: 0), "0 B of 10 B sent (0 %), 0 B/s"
    ),
    (
      ShownProgress(phase: .retrying, handed: 5, total: 10, rate: 3),
      "5 B of 10 B sent (50 %), trying again"
    ),
    (
      ShownProgress(phase: .waiting, handed: 10, total: 10, received: 4096),
      "10 B sent, 4.0 KiB of the response received"
    ),
    (ShownProgress(phase: .done), "done"),
  ])
  func `a heartbeat describes the state`(_ progress: ShownProgress, _ line: String) {
    #expect(Heartbeat.line(progress) == line)
  }

  // MARK: Downloads

  private static func receiving(_ received: Int64, of total: Int64? = 1000) -> ProgressSnapshot {
    ProgressSnapshot(phase: .waiting, total: 0, received: received, responseTotal: total)
  }

  private func downloadDisplay(_ style: ProgressOutput) -> ProgressDisplay {
    let clock = clock
    return ProgressDisplay(
      style, file: "film.mp4", isDownload: true, on: page.stream(), now: { clock.now })
  }

  @Test func `a download shows what was received, and of how much`() {
    let display = downloadDisplay(.bar(isColored: false))
    display.show(ProgressSnapshot(phase: .connecting, total: 0))
    display.show(Self.receiving(0))
    clock.advance(by: .seconds(34))
    display.show(Self.receiving(500))
    let bar = page.take()
    for words in ["film.mp4", " 50 %", "500 B of 1000 B", "14 B/s", "34 s left"] {
      #expect(bar.contains(words), "\(bar)")
    }
    display.finish(
      ProgressSnapshot(
        phase: .done, total: 0, received: 1000, responseTotal: 1000, elapsed: .seconds(61)))
    #expect(page.take().hasSuffix("formstream: 1000 B received in 1 min 01 s, 16 B/s on average\n"))
  }

  @Test func `a heartbeat of a download counts what is received, also without a total`() {
    let display = downloadDisplay(.heartbeat)
    display.show(Self.receiving(0))
    clock.advance(by: .seconds(30))
    display.show(Self.receiving(300))
    #expect(
      page.take()
        == "formstream: film.mp4: 300 B of 1000 B received (30 %), 10 B/s, 1 min 10 s left\n")
    // It begins again, and the server doesn't say how long it is.
    clock.advance(by: .seconds(25))
    display.show(Self.receiving(10, of: nil))
    clock.advance(by: .seconds(5))
    display.show(Self.receiving(60, of: nil))
    #expect(page.take() == "formstream: film.mp4: 60 B received, 10 B/s\n")
  }

  /// `film.mp4: done` was written of a request that failed to connect in 30 seconds.
  @Test func `no heartbeat says that a request has ended`() {
    let display = downloadDisplay(.heartbeat)
    display.show(ProgressSnapshot(phase: .connecting, total: 0))
    clock.advance(by: .seconds(30))
    display.show(ProgressSnapshot(phase: .done, total: 0))
    display.finish(ProgressSnapshot(phase: .done, total: 0))
    #expect(page.take() == "")
  }

  @Test func `a record of a download has its own phase and bytes`() {
    let display = downloadDisplay(.records)
    display.show(Self.receiving(0))
    clock.advance(by: .seconds(1))
    _ = page.take()
    display.show(Self.receiving(100))
    #expect(
      page.take()
        == #"{"schema":"formstream.progress/2","phase":"receiving","read":0,"handed":0,"#
        + #""acknowledged":null,"total":0,"received":100,"response_total":1000,"parts":[],"#
        + #""files_done":0,"files_total":1,"rate":100,"eta":9.0}"# + "\n")
    display.finish(
      ProgressSnapshot(phase: .done, total: 0, received: 1000, responseTotal: 1000))
    #expect(page.take().contains(#""files_done":1,"files_total":1"#))
  }

  // MARK: Records

  @Test func `records are written twenty times a second, and the first and the last always`() {
    let display = display(.records)
    display.show(ProgressSnapshot(phase: .connecting, total: 1000))
    #expect(page.take().hasPrefix(#"{"schema":"formstream.progress/2","phase":"connecting","#))
    var lines = 0
    for step in 1...100 {
      clock.advance(by: .milliseconds(10))
      display.show(Self.sending(Int64(step)))
      lines += page.take().count { $0 == "\n" }
    }
    #expect(lines == 20)
    display.show(Self.sending(777))
    display.tick()
    #expect(page.take() == "")
    // A step that came too soon is reported later, once.
    clock.advance(by: .milliseconds(50))
    display.tick()
    display.tick()
    #expect(page.take().contains(#""handed":777,"#))
    display.finish(
      ProgressSnapshot(phase: .done, read: 1000, handed: 1000, acknowledged: 1000, total: 1000))
    #expect(
      page.take()
        == #"{"schema":"formstream.progress/2","phase":"done","read":1000,"handed":1000,"#
        + #""acknowledged":1000,"total":1000,"received":0,"response_total":null,"parts":[],"files_done":0,"files_total":0,"#
        + #""rate":961,"eta":null}"# + "\n")
  }

  @Test func `a record has the parts, the files, the rate and the time left`() {
    let display = display(.records)
    display.show(Self.sending(0))
    clock.advance(by: .seconds(1))
    var snapshot = Self.sending(100)
    snapshot.parts = .init([
      .init(name: "title", isFile: false, sent: 6, size: 6),
      .init(name: "a\u{202E}", sent: 5, size: 5),
      .init(name: "c", sent: nil, size: nil),
    ])
    _ = page.take()
    display.show(snapshot)
    #expect(
      page.take()
        == #"{"schema":"formstream.progress/2","phase":"sending","read":100,"handed":100,"#
        + #""acknowledged":null,"total":1000,"received":0,"response_total":null,"parts":[{"name":"title","sent":6,"size":6},"#
        + #"{"name":"a\u202e","sent":5,"size":5},{"name":"c","sent":null,"size":null}],"#
        + #""files_done":1,"files_total":2,"rate":100,"eta":9.0}"# + "\n")
  }

  @Test func `of more than 64 parts only the one that is being sent is listed`() {
    let display = display(.records)
    var snapshot = Self.sending(100)
    for count in [64, 65] {
      snapshot.parts = .init(
        (0..<count).map { .init(name: "p\($0)", sent: $0 < 3 ? 1 : 0, size: $0 < 2 ? 1 : 2) })
      clock.advance(by: .seconds(1))
      display.show(snapshot)
      let line = page.take()
      #expect(line.count(of: "\"name\"") == (count == 64 ? 64 : 1))
      #expect(line.contains(#"{"name":"p2","sent":1,"size":2}"#))
    }
  }

  @Test func `a file that is the complete body counts as one file`() {
    let display = display(.records, file: "photo.jpg")
    display.show(Self.sending(999))
    #expect(page.take().contains(#""files_done":0,"files_total":1"#))
    display.finish(ProgressSnapshot(phase: .done, handed: 1000, total: 1000))
    #expect(page.take().contains(#""files_done":1,"files_total":1"#))
  }

  @Test func `if progress is silent, nothing is written`() {
    let display = display(.silence)
    display.show(Self.sending(0))
    clock.advance(by: .seconds(100))
    display.tick()
    display.finish(Self.sending(1000))
    #expect(page.take() == "")
  }
}

extension String {
  fileprivate func count(of text: String) -> Int { ranges(of: text).count }
}
