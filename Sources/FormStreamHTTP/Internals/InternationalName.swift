import FormStreamPlatform

/// The names of hosts with characters beyond ASCII.
enum InternationalName {
  /// The name that is looked up and sent (RFC 5890 §2.3.2.1: its A-label), such as `xn--bcher-kva.example`. Nil if the text is
  /// not a name, or if this libcurl can't convert names.
  ///
  /// C: `idn2_lookup_u8`, `idn2_free`
  static func encoded(_ name: String) -> String? {
    guard let library, !name.utf8.contains(0) else { return nil }
    // Like libcurl, this tries today's rules (Unicode Technical Standard 46, nontransitional), and then the rules that also
    // allow symbols (transitional).
    for rules: CInt in [8, 4] {
      var encoded: UnsafeMutablePointer<CChar>?
      guard library.lookUp(name, &encoded, rules) == 0, let encoded else { continue }
      defer { library.free(encoded) }
      return String(cString: encoded)
    }
    return nil
  }

  private typealias LookUp =
    @convention(c) (
      UnsafePointer<CChar>, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>, CInt
    ) -> CInt
  private typealias Free = @convention(c) (UnsafeMutableRawPointer) -> Void

  /// libidn2, if libcurl uses it; nil otherwise. This module therefore doesn't depend on libidn2.
  private static let library: (lookUp: LookUp, free: Free)? = {
    guard let lookUp: LookUp = loadedFunction(named: "idn2_lookup_u8"),
      let free: Free = loadedFunction(named: "idn2_free")
    else { return nil }
    return (lookUp, free)
  }()
}
