import FormStreamCommand
import Testing

@Suite struct HumanReadableTests {
  @Test(
    arguments: [
      (-1, "0 B"), (0, "0 B"), (1, "1 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1535, "1.4 KiB"),
      (1536, "1.5 KiB"), (10_239, "9.9 KiB"), (10_240, "10 KiB"), (1_048_575, "1023 KiB"),
      (1_048_576, "1.0 MiB"), (128_974_848, "123 MiB"), (1_288_490_189, "1.2 GiB"),
      (1_099_511_627_775, "1023 GiB"), (1_099_511_627_776, "1.0 TiB"), (.max, "7.9 EiB"),
    ] as [(Int64, String)])
  func `a size is rounded down`(_ bytes: Int64, _ text: String) {
    #expect(HumanReadable.size(bytes) == text)
  }

  @Test(
    arguments: [
      (0, "0 B/s"), (0.9, "0 B/s"), (36_700_160, "35 MiB/s"), (-5, "0 B/s"), (1e30, "7.9 EiB/s"),
      (.nan, "0 B/s"),
    ] as [(Double, String)])
  func `a rate is a size per second`(_ rate: Double, _ text: String) {
    #expect(HumanReadable.rate(rate) == text)
  }

  @Test(
    arguments: [
      (.seconds(-1), "0 s"), (.zero, "0 s"), (.milliseconds(1), "1 s"), (.seconds(31), "31 s"),
      (.milliseconds(59_001), "1 min 00 s"), (.seconds(125), "2 min 05 s"),
      (.seconds(3599), "59 min 59 s"), (.seconds(3720), "1 h 02 min"),
      (.seconds(86_399), "23 h 59 min"), (.seconds(363_600), "4 d 05 h"),
    ] as [(Duration, String)])
  func `a time has at most two units, and is rounded up to a second`(
    _ time: Duration, _ text: String
  ) {
    #expect(HumanReadable.time(time) == text)
  }

  @Test(
    arguments: [
      (.zero, "0 ms"), (.microseconds(499), "0 ms"), (.microseconds(500), "1 ms"),
      (.milliseconds(999), "999 ms"), (.microseconds(999_500), "1.0 s"),
      (.milliseconds(1049), "1.0 s"),
      (.milliseconds(1050), "1.1 s"), (.milliseconds(9949), "9.9 s"), (.milliseconds(9950), "10 s"),
      (.milliseconds(10_499), "10 s"), (.milliseconds(10_500), "11 s"),
      (.milliseconds(59_499), "59 s"),
      (.milliseconds(59_500), "1 min 00 s"), (.seconds(Int64.max), "106751991167300 d 15 h"),
      (.seconds(-1), "0 ms"),
    ] as [(Duration, String)])
  func `a time that has passed is rounded to the nearest`(_ time: Duration, _ text: String) {
    #expect(HumanReadable.elapsed(time) == text)
  }

  @Test(
    arguments: [
      (100, 0, 0), (100, 29, 29), (100, 99, 99), (100, 100, 100), (100, 101, 100), (100, -1, 0),
      (1_000_000, 999_999, 99), (.max, .max - 1, 99), (.max, .max / 2 + 1, 50), (3, 1, 33),
      (0, 0, nil), (-1, 0, nil),
    ] as [(Int64, Int64, Int?)])
  func `100 percent means everything`(_ total: Int64, _ done: Int64, _ percentage: Int?) {
    #expect(HumanReadable.percentage(of: total, done: done) == percentage)
  }
}
