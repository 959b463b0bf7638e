import FormStreamPlatform

/// Why a host was not found. libcurl reports the same error if the name doesn't exist and if the name servers don't respond, so
/// the system is asked once more.
enum HostLookup {
  /// How long to wait for the system. A longer lookup means that the name servers don't respond.
  static let timeLimit: Duration = .seconds(5)

  /// Asks the system; this may block.
  static func isTemporaryFailure(
    _ host: String, _ family: TransferSession.Configuration.AddressFamily
  ) -> Bool {
    switch lookUp(host, family) {
    // The name servers responded.
    case .noSuchName: false
    // The name was found now, or nothing is known about it.
    case .found, .noReply: true
    }
  }

  enum Finding {
    case found, noSuchName, noReply
  }
}
