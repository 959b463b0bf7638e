import FormStreamPlatform

extension Receiver {
  /// The URLs that clients on other machines can use. The first has the name of this machine, if the name resolves to one
  /// of the machine's addresses. The others have the addresses, with IPv4 first. There are no URLs if the receiver listens
  /// only for this machine.
  ///
  /// Each call asks the system again. The system may look the name up on the network, but this method waits only one second for
  /// the result.
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

/// Whether a name resolves to one of the addresses.
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
