import FormStreamTransfer

/// What to say where the environment asks for a proxy, which is not gone through.
enum ProxyNote {
  /// - Parameters:
  ///   - url: where the request goes.
  ///   - value: of a variable of the environment; nil where it is not set.
  static func text(for url: HTTPURL, _ value: (String) -> String?) -> String? {
    func named(_ name: String) -> (name: String, value: String)? {
      for name in [name, name.uppercased()] {
        if let value = value(name), !value.isEmpty { return (name, value) }
      }
      return nil
    }
    guard let proxy = named("\(url.origin.scheme)_proxy") ?? named("all_proxy") else { return nil }
    if let direct = named("no_proxy"), covers(direct.value, url.origin.host) { return nil }
    // Its value may hold a password.
    return
      "\(proxy.name) is set, and proxies are not used: the request goes straight to \(url.origin.host)."
  }

  /// Whether a list of `no_proxy` names a host, as curl reads it: hosts, and domains with all below them.
  private static func covers(_ list: String, _ host: String) -> Bool {
    let host = host.filter { $0 != "[" && $0 != "]" }
    return list.lowercased().split(whereSeparator: { $0 == "," || $0.isWhitespace }).contains {
      if $0 == "*" { return true }
      let domain = $0.drop { $0 == "." }.filter { $0 != "[" && $0 != "]" }
      return !domain.isEmpty && (host == domain || host.hasSuffix("." + domain))
    }
  }
}
