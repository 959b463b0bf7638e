import FormStreamHTTP
import FormStreamMultipart
import FormStreamPlatform

/// The value of `-z`: a response is wanted only if it is newer than a moment, or only if it is older.
struct ModificationCondition: Hashable, Sendable {
  private let wantsOlder: Bool
  /// Since 1970.
  private let seconds: Int64
  /// The moment as HTTP writes it.
  private let date: String

  /// Nil if the value is neither a time nor a file that exists.
  init?(_ typed: Argument) {
    wantsOlder = Self.wantsOlder(typed)
    let moment = Self.moment(of: typed)
    guard let seconds = Self.time(moment) ?? modificationTime(of: moment.path),
      let date = HTTPDate.text(ofSeconds: seconds)
    else { return nil }
    (self.seconds, self.date) = (seconds, date)
  }

  /// The file whose modification time is the time to compare with; nil if a time was typed.
  static func file(of typed: Argument) -> Argument? {
    let moment = moment(of: typed)
    return moment.bytes.isEmpty || time(moment) != nil ? nil : moment
  }

  private static func wantsOlder(_ typed: Argument) -> Bool {
    typed.bytes.first == UInt8(ascii: "-")
  }

  private static func moment(of typed: Argument) -> Argument {
    Argument(bytes: wantsOlder(typed) ? typed.bytes.dropFirst() : typed.bytes[...], from: typed)
  }

  /// The moment in seconds since 1970; nil if it is not a time.
  private static func time(_ moment: Argument) -> Int64? {
    moment.text.flatMap { HTTPDate.seconds(inOneWord($0)) }
  }

  /// A date of ISO 8601 in a form that libcurl reads: `19941106 08:49:37 +0200` for `1994-11-06T08:49:37+02:00`.
  private static func inOneWord(_ text: String) -> String {
    let date = text.utf8.prefix(10)
    let fields = date.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard fields.map(\.count) == [4, 2, 2], fields.joined().allSatisfy(\.isASCIIDigit) else {
      return text
    }
    var rest = text.utf8.dropFirst(10)
    var time: Substring.UTF8View = Substring().utf8
    if let mark = rest.popFirst() {
      time = rest.prefix { $0.isASCIIDigit || $0 == UInt8(ascii: ":") }
      guard "Tt ".utf8.contains(mark), !time.isEmpty else { return text }
      rest = rest.dropFirst(time.count)
      // Fractions of a second are ignored.
      let fraction = rest.dropFirst().prefix(while: \.isASCIIDigit)
      if rest.first == UInt8(ascii: "."), !fraction.isEmpty {
        rest = rest.dropFirst(1 + fraction.count)
      }
    }
    let shortZone = String(decoding: rest.filter { $0 != UInt8(ascii: ":") }, as: UTF8.self)
    let knownZone = ["z", "Z"].contains(shortZone) ? "GMT" : shortZone
    return "\(String(decoding: fields.joined(), as: UTF8.self)) \(Substring(time)) \(knownZone)"
  }

  var header: (name: String, value: String) {
    (wantsOlder ? "If-Unmodified-Since" : "If-Modified-Since", date)
  }

  /// Whether the condition excludes a response because of its `Last-Modified`. RFC 9110 §13.1.3: a server may ignore
  /// the condition, as many applications do, and send everything. A partial response (206) is never excluded, because
  /// it was asked for and continues an existing file.
  func excludes(_ response: TransferResponse) -> Bool {
    guard (200...299).contains(response.status), response.status != 206,
      let modified = response.headers["Last-Modified"].flatMap(HTTPDate.seconds)
    else { return false }
    return wantsOlder ? modified >= seconds : modified <= seconds
  }
}
