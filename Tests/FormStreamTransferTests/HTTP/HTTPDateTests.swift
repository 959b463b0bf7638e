import FormStreamTestSupport
import FormStreamTransfer
import Glibc
import Testing

@testable import FormStreamHTTP

/// Dates as HTTP writes them, of any time that a server or a file may name.
@Suite struct HTTPDateTests {
  /// RFC 9110 §5.6.7: day-name "," SP day SP month SP year SP hour ":" minute ":" second SP GMT
  @Test(
    arguments: [
      (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
      (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
      (-2_203_891_201, "Wed, 28 Feb 1900 23:59:59 GMT"),
      (-2_203_891_200, "Thu, 01 Mar 1900 00:00:00 GMT"),
      (978_307_199, "Sun, 31 Dec 2000 23:59:59 GMT"),
      (-62_135_596_800, "Mon, 01 Jan 0001 00:00:00 GMT"),
      (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
    ] as [(Int64, String)])
  func `a moment is written in twenty-nine characters`(seconds: Int64, text: String) {
    #expect(HTTPDate.text(ofSeconds: seconds) == text)
  }

  @Test(arguments: [-62_135_596_801, 253_402_300_800, .min, .max] as [Int64])
  func `a moment of a year that does not have four digits has no text`(seconds: Int64) {
    #expect(HTTPDate.text(ofSeconds: seconds) == nil)
  }

  /// The C library has a calendar of its own. 997 is a prime, so that each day of a year comes up.
  @Test func `every date is that of the C library`() throws {
    for day in stride(from: Int64(-719_162), through: 2_932_896, by: 997) {
      let seconds = day * 86_400 + (day & 0xFFFF)
      var (moment, fields) = (time_t(seconds), tm())
      gmtime_r(&moment, &fields)
      let words = try #require(HTTPDate.text(ofSeconds: seconds)).split(separator: " ")
      #expect(Int(words[1]) == Int(fields.tm_mday), "\(seconds)")
      #expect(Int(words[3]) == Int(fields.tm_year) + 1900, "\(seconds)")
      let names = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
      #expect(words[0] == names[Int(fields.tm_wday)] + ",", "\(seconds)")
      let clock = [fields.tm_hour, fields.tm_min, fields.tm_sec]
      #expect(words[4].split(separator: ":").compactMap { CInt($0) } == clock, "\(seconds)")
      if fields.tm_year >= 0 { #expect(HTTPDate.seconds(words.joined(separator: " ")) == seconds) }
    }
  }

  @Test(
    arguments: [
      "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
      "sun, 06 nov 1994 08:49:37 GMT",
    ])
  func `each format of HTTP is read`(text: String) {
    #expect(HTTPDate.strictSeconds(text) == 784_111_777)
  }

  @Test(
    arguments: [
      "06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET",
      "Sun, 6 Nov 1994 08:49:37 GMT", "Son, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nox 1994 08:49:37 GMT",
      "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
      "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 :8:49:37 GMT",
      "Sun, 06 Nov 0000 08:49:37 GMT", "Sonday, 06-Nov-94 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT",
      "Sun Nov 6 08:49:37 1994", "784111777", "",
    ])
  func `no other format is one of HTTP`(text: String) {
    #expect(HTTPDate.strictSeconds(text) == nil)
  }

  /// RFC 9110 §5.6.7. libcurl takes all years up to 70 for years after 2000, and all others for years before.
  @Test(
    arguments: [
      (2026, "26", 2026), (2026, "75", 2075), (2026, "76", 2076), (2026, "77", 1977), (2026, "00", 2000),
      (1999, "49", 2049), (1999, "50", 1950), (2060, "11", 2011),
    ])
  func `a year of two digits is at most fifty years ahead`(now: Int, digits: String, year: Int) throws {
    let moment = CalendarTime(year: now, month: 7, day: 1).secondsSince1970
    let seconds = try #require(
      HTTPDate.strictSeconds("Sunday, 01-Jan-\(digits) 00:00:00 GMT", now: .seconds(moment)))
    #expect(seconds == CalendarTime(year: year, month: 1, day: 1).secondsSince1970)
  }
}
