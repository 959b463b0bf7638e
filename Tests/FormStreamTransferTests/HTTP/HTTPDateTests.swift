import FormStreamTestSupport
import FormStreamTransfer
import Glibc
import Testing

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
}
