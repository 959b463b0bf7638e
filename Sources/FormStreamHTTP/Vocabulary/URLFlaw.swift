import FormStreamPlatform

/// What is wrong with a text that was meant as a URL, or as a reference to one.
///
/// docs/urls.md has a row for each flaw, with what others make of such a text.
enum URLFlaw: Error, Hashable {
  case tooLong
  case controlCharacter
  case spaceAtStart
  case noScheme
  /// Another scheme than http and https.
  case scheme(String)
  case slashes
  case backslash
  case noHost
  case severalAts
  case port
  /// A character that the name of a host can't have.
  case hostCharacter
  /// A host of numbers that is a name for curl, and an address of IPv4 or nothing for browsers.
  case hostNumber
  case ipv6
  case zone
  /// A host beyond ASCII that has no name in ASCII.
  case hostNotEncodable(String)
  /// A control character in the user or the password, percent-encoded. The value is the host.
  case credentialCharacter(String)
  /// A user or a password that is not UTF-8. The value is the host.
  case credentialEncoding(String)

  /// What is wrong, and what to do about it.
  ///
  /// - Parameter url: the text, secrets masked.
  func sentence(about url: String) -> String {
    switch self {
    case .scheme(let scheme):
      "The URL \(url.quoted) has the scheme \(scheme.quoted) (Unsupported URL scheme): write http://host/path or "
        + "https://host/path, because only http and https are supported."
    case .hostNotEncodable(let host):
      "The host \(host.quoted) of a URL is not a name that can be looked up: write it in ASCII, such as "
        + "xn--bcher-kva.example."
    case .credentialCharacter(let host):
      "The user or the password in the URL for \(host.quoted) contains a control character: remove it."
    case .credentialEncoding(let host):
      "The user or the password in the URL for \(host.quoted) is not UTF-8: write its characters beyond ASCII as UTF-8, "
        + "such as %C3%BC."
    default: "The URL \(url.quoted) is not valid (\(reason)): \(remedy)."
    }
  }

  private var reason: String {
    switch self {
    case .tooLong: "it is longer than \(URLParts.maximumLength) bytes"
    case .controlCharacter: "it has a control character"
    case .spaceAtStart: "it begins with a space"
    case .slashes: "two slashes belong between the scheme and the host"
    case .backslash: "it has a backslash before its path"
    case .noHost: "No host part in the URL"
    case .severalAts: "it has more than one @ before its path"
    case .port: "Port number was not a decimal number between 1 and 65535"
    case .hostCharacter: "Bad hostname"
    case .hostNumber: "its host has numbers alone and is not an address"
    case .ipv6: "Bad IPv6 address"
    case .zone: "Bad zone of an IPv6 address"
    default: "it doesn't begin with http:// or https://"
    }
  }

  private var remedy: String {
    switch self {
    case .tooLong: "shorten it"
    case .controlCharacter: "remove the character, or write it percent-encoded, such as %0A for a line break"
    case .spaceAtStart: "remove the space"
    case .backslash: "write slashes, as in https://host/path, and %5C in a user or a password"
    case .severalAts: "write an @ in a user or a password as %40"
    case .port: "the port is a number up to 65535, as in http://host:8080/path"
    case .hostCharacter: "write the host without spaces and other marks, as in https://host/path"
    case .hostNumber: "write an address as four numbers up to 255, as in http://192.0.2.1/path"
    case .ipv6: "write the address as in http://[2001:db8::1]/path"
    case .zone:
      "write up to \(URLHost.maximumZoneLength) letters, digits and -._~ after %25, as in http://[fe80::1%25eth0]/path"
    default: "write http://host/path or https://host/path"
    }
  }
}
