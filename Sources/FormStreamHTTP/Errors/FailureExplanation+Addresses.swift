import FormStreamPlatform

/// Explains failures that are caused by settings about addresses: those that a setting excludes are not tried, and only a failed
/// connection is reported.
extension FailureExplanation {
  /// The host that this client connects to.
  var connectedHost: String {
    if let proxy { return proxy.host }
    let origin = url.origin
    return configuration.replacedHosts.lazy.compactMap { $0.place(for: origin)?.host }.first ?? origin.host
  }

  /// The host whose address was looked up: the URL's host if a SOCKS proxy needed its address, otherwise ``connectedHost``.
  func lookedUpHost(_ lookup: WireFailure.Lookup) -> String {
    lookup == .serverForProxy ? url.origin.host : connectedHost
  }

  /// The error if the host is an address that settings exclude. Another attempt can't succeed then.
  func excludedAddress(_ failure: WireFailure) -> (TransferError, isTransient: Bool)? {
    guard configuration.usesNetwork, let version = ipVersion(connectedHost) else {
      return nil
    }
    if let only = onlyVersion, only.number != version {
      return permanent(
        .invalidSetting, failure,
        "could not be sent: \(connectedHost) is an address of IPv\(version), and only those of IPv\(only.number) are used "
          + "(\(only.setting)). Allow both, or name another address.")
    }
    guard let start = configuration.localInterface.flatMap(ipVersion), start != version else {
      return nil
    }
    return permanent(
      .interfaceUnusable, failure,
      "could not be sent: connections are to begin at an address of IPv\(start) (\(SettingName.localInterface)), and "
        + "\(connectedHost) is one of IPv\(version). Name one of the same kind.")
  }

  /// The error if a SOCKS4 proxy was asked to connect to an IPv6 address; nil if the host is a name.
  func addressForSOCKS4(
    _ lookup: WireFailure.Lookup, _ failure: WireFailure
  ) -> (TransferError, isTransient: Bool)? {
    guard lookup == .serverForProxy, proxy?.kind == .socks4, ipVersion(url.origin.host) == 6 else {
      return nil
    }
    return permanent(
      .invalidSetting, failure,
      "could not be sent: a proxy of SOCKS4 connects only to addresses of IPv4, and \(url.origin.host) is one of IPv6. "
        + "Use a proxy of SOCKS5.")
  }

  /// A sentence about the addresses that a SOCKS4 proxy gets; empty if no SOCKS4 proxy was asked.
  func socks4Note(_ lookup: WireFailure.Lookup) -> String {
    lookup == .serverForProxy && proxy?.kind == .socks4
      ? " A proxy of SOCKS4 gets only addresses of IPv4." : ""
  }

  /// A sentence that names the setting that limits which of a host's addresses are looked up and tried; empty if no setting
  /// limits them.
  var familyNote: Message {
    if !configuration.usesNetwork || ipVersion(connectedHost) != nil { return "" }
    let start = configuration.localInterface.flatMap(ipVersion).map {
      (number: $0, setting: SettingName.localInterface)
    }
    guard let only = onlyVersion ?? start else { return "" }
    return " Only addresses of IPv\(only.number) were tried (\(only.setting))."
  }

  private var onlyVersion: (number: Int, setting: SettingName)? {
    switch configuration.addressFamily.kind {
    case .any: nil
    case .ipv4: (4, .onlyIPv4)
    case .ipv6: (6, .onlyIPv6)
    }
  }

  /// The IP version of an address, which may be in brackets or after `host!`; nil if the text is not an address.
  private func ipVersion(_ text: String) -> Int? {
    let address = text.hasPrefix("host!") ? text.dropFirst(5) : text[...]
    return addressBytes(address.filter { !"[]".contains($0) }).map { $0.count == 4 ? 4 : 6 }
  }
}
