import FormStreamCommand
import Testing
import FormStreamHTTP

@Suite struct ProgressLineTests {
  private static let photo = ShownProgress(
    phase: .sending, item: .init(name: "photo", number: 2, count: 3), handed: 128_974_848,
    total: 1_288_490_189, rate: 36_700_160)

  @Test(arguments: [
    (
      120,
      "photo (2 of 3)   10 %  [===>                            ]   123 MiB of 1.2 GiB    35 MiB/s  32 s left"
    ),
    (80, "photo (2 of 3)   10 %  [=>        ]   123 MiB of 1.2 GiB    35 MiB/s  32 s left"),
    (79, "photo (2 of 3)   10 %  [>        ]   123 MiB of 1.2 GiB    35 MiB/s  32 s left"),
    (77, "photo (2 of 3)   10 %   123 MiB of 1.2 GiB    35 MiB/s  32 s left"),
    (66, "photo (2 of 3)   10 %   123 MiB of 1.2 GiB    35 MiB/s  32 s left"),
    (65, "photo (2 of 3)   10 %   123 MiB of 1.2 GiB  32 s left"),
    (48, "photo (2 of 3)   10 %   123 MiB  32 s left"),
    (34, "ph… (2 of 3)   10 %   123 MiB"),
    (24, " 10 %   123 MiB"),
    (10, " 10 %"), (6, " 10 %"), (5, ""), (1, ""), (0, ""),
  ])
  func `the line fits its terminal`(_ width: Int, _ line: String) {
    #expect(ProgressLine.line(Self.photo, columns: width) == line)
  }

  @Test func `no line reaches the last column`() {
    let names = ["photo", String(repeating: "写真", count: 30), "a\u{1B}]0;x\u{7}\u{202E}", ""]
    let phases: [TransferProgress.Phase] = [.connecting, .sending, .waiting, .retrying, .done]
    for name in names {
      for phase in phases {
        for (number, count) in [(1, 1), (99_999, 100_000)] {
          var progress = Self.photo
          progress.phase = phase
          progress.item = .init(name: name, number: number, count: count, isNumberLowerBound: true)
          for width in 0...200 {
            let line = ProgressLine.line(progress, columns: width)
            #expect(columns(of: line) <= max(width - 1, 0))
            #expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\u{202E}" })
          }
        }
      }
    }
  }

  @Test func `if the total is not known, there is no percentage`() {
    let progress = ShownProgress(
      phase: .sending, item: .init(name: "data"), handed: 128_974_848, total: nil, rate: 36_700_160)
    #expect(ProgressLine.line(progress, columns: 80) == "data   123 MiB    35 MiB/s")
  }

  @Test func `after a part of unknown length, the number is a lower bound`() {
    let progress = ShownProgress(
      phase: .sending, item: .init(name: "data", number: 2, count: 5, isNumberLowerBound: true),
      handed: 1)
    #expect(ProgressLine.line(progress, columns: 80) == "data (2+ of 5)       1 B")
  }

  @Test(arguments: [
    (99, " 99 %  [===============================>]      99 B of 100 B"),
    (100, "100 %  [================================]     100 B"),
  ])
  func `the bar is full when all bytes were handed over`(_ handed: Int64, _ line: String) {
    let progress = ShownProgress(phase: .sending, handed: handed, total: 100)
    #expect(ProgressLine.line(progress, columns: 80) == line)
  }

  @Test(
    arguments: [
      (.connecting, 0, 0, "photo (2 of 3)  connecting"),
      (
        .waiting, 1_288_490_189, 0,
        "photo (2 of 3)  100 %  [==================]   1.2 GiB  waiting for the response"
      ),
      (
        .waiting, 1_288_490_189, 4096,
        "photo (2 of 3)  100 %  [==========]   1.2 GiB  4.0 KiB of the response received"
      ),
      (
        .retrying, 128_974_848, 0,
        "photo (2 of 3)   10 %  [=>                 ]   123 MiB of 1.2 GiB  trying again"
      ),
    ] as [(TransferProgress.Phase, Int64, Int64, String)])
  func `the line names the phase`(
    _ phase: TransferProgress.Phase, _ handed: Int64, _ received: Int64, _ line: String
  ) {
    var progress = Self.photo
    progress.phase = phase
    progress.handed = handed
    progress.received = received
    #expect(ProgressLine.line(progress, columns: 80) == line)
  }

  @Test func `without a body there is no percentage`() {
    let progress = ShownProgress(phase: .waiting, total: 0)
    #expect(ProgressLine.line(progress, columns: 80) == "waiting for the response")
  }

  @Test func `color changes nothing but the color`() {
    let colored = ProgressLine.line(Self.photo, columns: 120, isColored: true)
    let plain = ProgressLine.line(Self.photo, columns: 120)
    #expect(colored.contains("[\u{1B}[32m===>\u{1B}[0m "))
    #expect(
      colored.replacing("\u{1B}[32m", with: "").replacing("\u{1B}[0m", with: "") == plain)
  }
}
