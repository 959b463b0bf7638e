import FormStreamMultipart
import FormStreamPlatform

/// The host of a URL, as it is looked up and sent.
struct URLHost: Hashable {
  /// A name in ASCII, four numbers, or an address of IPv6 in brackets. The case is that of the URL, because it is sent.
  let text: String
  /// The zone of an address of IPv6 (RFC 6874), such as `eth0`.
  var zone: String?

  /// The length of an interface's name: `IFNAMSIZ` with its NUL is 16.
  static let maximumZoneLength = 15

  /// Reads the host of an authority, without the port.
  ///
  /// RFC 3986 §3.2.2: "host = IP-literal / IPv4address / reg-name". A name is what curl accepts as one, without the characters
  /// that browsers refuse: `|`, `%` and DEL.
  init(_ bytes: ArraySlice<UInt8>) throws(URLFlaw) {
    if bytes.first == UInt8(ascii: "[") {
      self = try Self(bracketed: bytes.dropFirst())
      return
    }
    var name = Array(bytes)
    // RFC 3986 §3.2.2: a name may be percent-encoded, and stands for UTF-8 then.
    if name.contains(UInt8(ascii: "%")) { name = PercentDecoder.decoded(name) }
    guard !name.isEmpty else { throw .noHost }
    guard name.allSatisfy({ $0 >= 0x80 || $0.isOfHostName }) else { throw .hostCharacter }
    if name.contains(where: { $0 >= 0x80 }) { name = try Self.encoded(name) }
    self.init(text: try Self.address(name) ?? String(decoding: name, as: UTF8.self), zone: nil)
  }

  private init(text: String, zone: String?) {
    (self.text, self.zone) = (text, zone)
  }

  /// The name that is looked up in place of one beyond ASCII (RFC 5890 §2.3.2.1: its A-label), such as `xn--bcher-kva.example`.
  private static func encoded(_ name: [UInt8]) throws(URLFlaw) -> [UInt8] {
    let text = String(decoding: name, as: UTF8.self)
    // Some characters are mapped to one that ends a host, such as a full-width slash, and others to nothing.
    guard let encoded = InternationalName.encoded(text), !encoded.isEmpty,
      encoded.utf8.allSatisfy(\.isOfHostName)
    else { throw .hostNotEncodable(text) }
    return Array(encoded.utf8)
  }

  // MARK: IPv4

  /// The four numbers of a host that is an address of IPv4 in any of its forms; nil if the host is a name.
  ///
  /// WHATWG URL, "ends in a number": browsers read a host whose last label is a number as an address, with or without a dot
  /// after it. A host that has numbers alone and is a name for curl is refused, because it would lead to two places. With
  /// another label, as in `h.1`, it is a name: browsers refuse it, and read it as nothing else.
  private static func address(_ name: [UInt8]) throws(URLFlaw) -> String? {
    let labels = name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let hasDotAtEnd = labels.count > 1 && labels.last?.isEmpty == true
    guard let last = hasDotAtEnd ? labels.dropLast().last : labels.last, last.isNumber,
      labels.allSatisfy({ $0.isEmpty || $0.isNumber })
    else { return nil }
    guard let numbers = numbers(labels), let rest = numbers.last else { throw .hostNumber }
    // All but the last are one byte each, and the last has the rest of the address: 127.1 is 127.0.0.1.
    let bytesOfLast = 5 - numbers.count
    guard rest >> (8 * UInt64(bytesOfLast)) == 0, numbers.dropLast().allSatisfy({ $0 <= 0xFF }) else {
      throw .hostNumber
    }
    let bytes = (0..<bytesOfLast).reversed().map { (rest >> (8 * UInt64($0))) & 0xFF }
    return (numbers.dropLast() + bytes).map(String.init).joined(separator: ".")
  }

  /// One to four numbers, or nil: as `inet_aton` reads them, hexadecimal after `0x` and octal after `0`.
  private static func numbers(_ labels: [ArraySlice<UInt8>]) -> [UInt64]? {
    guard labels.count <= 4 else { return nil }
    var numbers: [UInt64] = []
    for label in labels {
      let digits = label.isHexadecimal ? label.dropFirst(2) : label
      let radix = label.isHexadecimal ? 16 : label.count > 1 && label.first == UInt8(ascii: "0") ? 8 : 10
      // A sign would be a number for Swift, too.
      guard digits.allSatisfy(\.isHexadecimalDigit),
        let number = UInt32(String(decoding: digits, as: UTF8.self), radix: radix)
      else { return nil }
      numbers.append(UInt64(number))
    }
    return numbers
  }

  // MARK: IPv6

  /// Reads an address and its zone up to the bracket at the end: `fe80::1%25eth0]`.
  private init(bracketed bytes: ArraySlice<UInt8>) throws(URLFlaw) {
    guard bytes.last == UInt8(ascii: "]") else { throw .ipv6 }
    let inside = bytes.dropLast()
    let address = inside.prefix { $0 != UInt8(ascii: "%") }
    let written = String(decoding: address, as: UTF8.self)
    guard let parsed = addressBytes(written), parsed.count == 16, let short = addressText(parsed) else {
      throw .ipv6
    }
    // As curl sends it: as it was written, unless it can be written shorter.
    text = "[\(short.utf8.count < written.utf8.count ? short : written)]"
    guard address.endIndex < inside.endIndex else { return }
    // RFC 6874 §2 writes the percent sign as %25. curl also accepts it alone, as other programs write zones.
    var name = inside[address.endIndex...].dropFirst()
    if name.starts(with: "25".utf8), name.count > 2 { name = name.dropFirst(2) }
    guard (1...Self.maximumZoneLength).contains(name.count), name.allSatisfy(\.isUnreserved) else { throw .zone }
    zone = String(decoding: name, as: UTF8.self)
  }

  /// The host with its zone, as it stands in a URL.
  var textInURL: String {
    zone.map { "\(text.dropLast())%25\($0)]" } ?? text
  }
}

extension ArraySlice<UInt8> {
  /// `0x`, and hexadecimal digits or nothing after it.
  fileprivate var isHexadecimal: Bool {
    let second = dropFirst().first
    return first == UInt8(ascii: "0") && (second == UInt8(ascii: "x") || second == UInt8(ascii: "X"))
  }

  /// WHATWG URL, "ends in a number": all digits, or a hexadecimal number.
  fileprivate var isNumber: Bool {
    isHexadecimal
      ? dropFirst(2).allSatisfy(\.isHexadecimalDigit) : !isEmpty && allSatisfy { $0.isASCIIDigit }
  }
}

extension UInt8 {
  fileprivate var isHexadecimalDigit: Bool {
    isASCIIDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(asciiLowercased)
  }

  /// RFC 3986 §2.3: unreserved = ALPHA / DIGIT / "-" / "." / "_" / "~".
  fileprivate var isUnreserved: Bool { isASCIILetterOrDigit || "-._~".utf8.contains(self) }

  /// RFC 3986 §3.2.2 also allows sub-delims in a name, which curl refuses.
  fileprivate var isOfHostName: Bool { isUnreserved }
}
