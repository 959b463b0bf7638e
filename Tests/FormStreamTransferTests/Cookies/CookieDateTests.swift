import Testing

@testable import FormStreamHTTP

/// Dates of cookies (RFC 6265bis §5.1.1).
@Suite struct CookieDateTests {
  @Test(
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
      ("Sun Nov  6 08:49:37 1994", 784_111_777), ("06-Nov-1994 8:9:7", 784_109_347),
      ("6th november 1994 08:49:37", 784_111_777), ("08:49:37 1994 06 Nov", 784_111_777),
      ("1994/06/Nov/08:49:37Z", 784_111_777),
      // A zone is not read, and neither are words that are of no kind.
      ("Mon, 06 Nov 1994 08:49:37 +0200 nonsense", 784_111_777),
      ("06 Nov 69 00:00:00", 3_150_921_600), ("06 Nov 70 00:00:00", 26_697_600),
      ("01 Jan 1601 00:00:00", -11_644_473_600), ("29 Feb 2000 23:59:59", 951_868_799),
      // The first word of a kind counts, and a day is looked for before a year.
      ("06 07 Nov 1994 08:49:37 09:00:00", 1_194_338_977),
    ] as [(String, Int64)])
  func `a date is made of words in any order`(text: String, seconds: Int64) {
    #expect(CookieDate.seconds(text.utf8) == seconds)
  }

  @Test(
    arguments: [
      "", "06 Nov 1994", "08:49:37 06 1994", "Nov 1994 08:49:37", "06 Nov 08:49:37",
      "00 Nov 1994 08:49:37", "32 Nov 1994 08:49:37", "31 Nov 1994 08:49:37", "29 Feb 1900 00:00:00",
      "06 Nov 1600 08:49:37", "06 Nov 1994 24:00:00", "06 Nov 1994 08:60:00", "06 Nov 1994 08:49:60",
      "006 Nov 1994 08:49:37", "06 Nov 19940 08:49:37", "06 Nov 1994 008:49:37", "06 Nov 1994 08:49",
      "06 Nov 1994 08:049:37", "0",
    ])
  func `a text without a time, a day, a month and a year is no date`(text: String) {
    #expect(CookieDate.seconds(text.utf8) == nil)
  }
}
