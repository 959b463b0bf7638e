import FormStreamPlatform

/// The hosts that are reached without a proxy, with the meaning that `no_proxy` has in curl.
struct ProxyExceptions: Hashable, Sendable {
  private enum Entry: Hashable {
    /// A name. The names below it match, too.
    case domain(String)
    /// An address, and how many of its first bits must match.
    case addresses([UInt8], bits: Int)
  }

  private let containsAll: Bool
  private var entries: [Entry] = []

  /// - Parameter text: names, addresses and CIDR blocks, separated by commas or spaces; `*` alone is every host.
  init(_ text: String) {
    containsAll = text == "*"
    guard !containsAll else { return }
    entries = text.lowercased().split { $0 == "," || $0.isWhitespace }.compactMap { Self.entry($0) }
  }

  private static func entry(_ word: Substring) -> Entry? {
    let parts = word.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    if let address = addressBytes(String(parts[0])) {
      guard parts.count == 2 else { return .addresses(address, bits: address.count * 8) }
      guard let bits = Int(parts[1]), (1...address.count * 8).contains(bits) else { return nil }
      return .addresses(address, bits: bits)
    }
    let name = word.drop { $0 == "." }.withoutDotAtEnd
    return name.isEmpty ? nil : .domain(String(name))
  }

  /// The first word of a list that no host of a URL matches, or that stands for all of them; nil if there is none.
  static func unusableWord(in text: String) -> String? {
    text.lowercased().split { $0 == "," || $0.isWhitespace }.first { word in
      switch entry(word) {
      case .addresses: false
      case .domain(let name): name.contains("*") || !matches(itself: name)
      case nil: true
      }
    }.map(String.init)
  }

  /// Whether a name matches the host of a URL that has this name. A name with a port or a scheme does not, nor does an address in
  /// brackets or a name beyond ASCII.
  private static func matches(itself name: String) -> Bool {
    guard let url = try? HTTPURL("http://\(name)/") else { return false }
    return ProxyExceptions(name).contain(url.origin.host)
  }

  /// - Parameter host: the host of a URL, in lower case.
  func contain(_ host: String) -> Bool {
    if containsAll { return true }
    let name = host.filter { $0 != "[" && $0 != "]" }[...].withoutDotAtEnd
    let address = addressBytes(String(name))
    return entries.contains { entry in
      switch entry {
      case .addresses(let start, let bits): address?.hasSameBits(as: start, count: bits) == true
      case .domain(let domain): address == nil && (name == domain || name.hasSuffix("." + domain))
      }
    }
  }
}

extension Substring {
  fileprivate var withoutDotAtEnd: Substring { hasSuffix(".") ? dropLast() : self }
}

extension [UInt8] {
  fileprivate func hasSameBits(as other: [UInt8], count bits: Int) -> Bool {
    guard count == other.count else { return false }
    let (bytes, rest) = (bits / 8, bits % 8)
    guard prefix(bytes) == other.prefix(bytes) else { return false }
    return rest == 0 || (self[bytes] ^ other[bytes]) >> (8 - rest) == 0
  }
}
