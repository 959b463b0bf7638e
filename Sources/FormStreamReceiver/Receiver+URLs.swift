import FormStreamPlatform

extension Receiver {
  /// The URLs that clients on other machines can use: by the name of this machine, if that leads to one of its
  /// addresses, then by the addresses, those of IPv4 first. There are none if the receiver listens only for this machine.
  ///
  /// The system is asked each time. It may ask the network for the name, and is given one second for that.
  public func urlsForOthers() -> [String] {
    guard !isLoopbackOnly else { return [] }
    guard AddressKind(address) == .unspecified else { return [url] }
    let hasIPv6 = !isIPv4(address)
    let all = interfaceAddresses().filter { hasIPv6 || !$0.isIPv6 }
    let sorted = all.filter { !$0.isIPv6 } + all.filter(\.isIPv6)
    var hosts = sorted.compactMap(\.host)
    if let name = hostName(), leads(name, toOneOf: Set(hosts)) {
      hosts.insert(name, at: 0)
    }
    return hosts.map { url(at: $0) }
  }

  /// The URL of the receiver at a host: a name, or an address without brackets.
  func url(at host: String) -> String {
    "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)/"
  }
}

/// Whether a name is that of an address.
private func leads(_ name: String, toOneOf hosts: Set<String>) -> Bool {
  let answer = Guarded(false)
  let isAnswered = AutoResetEvent()
  let isAsked = startThread("formstream-name") {
    let found = addresses(ofHost: name).contains { $0.host.map(hosts.contains) ?? false }
    answer.withLock { $0 = found }
    isAnswered.signal()
  }
  if isAsked { isAnswered.wait(atMost: .seconds(1)) }
  return answer.withLock(\.self)
}
