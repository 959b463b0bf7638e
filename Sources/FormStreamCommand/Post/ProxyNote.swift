import FormStreamTransfer

/// The message if the environment asks for a proxy: proxies are not used.
enum ProxyNote {
  /// - Parameters:
  ///   - url: where the request goes.
  ///   - value: the value of an environment variable; nil if it is not set.
  static func text(for url: HTTPURL, _ value: (String) -> String?) -> String? {
    func variable(_ name: String) -> (name: String, value: String)? {
      for name in [name, name.uppercased()] {
        if let value = value(name), !value.isEmpty { return (name, value) }
      }
      return nil
    }
    guard let proxy = variable("\(url.origin.scheme)_proxy") ?? variable("all_proxy") else {
      return nil
    }
    if let direct = variable("no_proxy"), contains(direct.value, url.origin.host) { return nil }
    // The variable's value may hold a password.
    return
      "\(proxy.name) is set, but proxies are not used: the request goes directly to \(url.origin.host)."
  }

  /// Whether a list of `no_proxy` contains a host. As in curl, a domain contains all hosts below it.
  private static func contains(_ list: String, _ host: String) -> Bool {
    let host = host.filter { $0 != "[" && $0 != "]" }
    return list.lowercased().split(whereSeparator: { $0 == "," || $0.isWhitespace }).contains {
      if $0 == "*" { return true }
      let domain = $0.drop { $0 == "." }.filter { $0 != "[" && $0 != "]" }
      return !domain.isEmpty && (host == domain || host.hasSuffix("." + domain))
    }
  }
}
