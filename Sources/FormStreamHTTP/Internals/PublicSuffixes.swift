import FormStreamPlatform

/// The domains below which anybody can register a name, such as `co.uk` (https://publicsuffix.org). No server may set a cookie
/// for all of such a domain.
struct PublicSuffixes: Sendable {
  /// Whether a domain in lower case is one of these.
  let contain: @Sendable (_ domain: String) -> Bool
  /// Whether a host may set cookies for a domain that its own name ends with; both in lower case.
  let allow: @Sendable (_ host: String, _ domain: String) -> Bool

  /// The rule if there is no list: a domain of one label, such as `com`, is a public suffix.
  static let unknown = PublicSuffixes(
    contain: { !withoutLastDot($0).contains(".") }, allow: { withoutLastDot($1).contains(".") })

  /// The list of libpsl; nil if libpsl is not installed. It is loaded at the first use, because only sessions that keep cookies
  /// need it.
  ///
  /// C: `psl_latest`, `psl_builtin`, `psl_is_public_suffix`, `psl_is_cookie_domain_acceptable`
  static let installed: PublicSuffixes? = {
    guard let library = LoadedLibrary(named: "libpsl.so.5"),
      let isSuffix: IsSuffix = library.function(named: "psl_is_public_suffix"),
      let isAcceptable: IsAcceptable = library.function(named: "psl_is_cookie_domain_acceptable"),
      let latest: Latest = library.function(named: "psl_latest"),
      let builtIn: BuiltIn = library.function(named: "psl_builtin"),
      // The system's list is newer than the list in the library. Both stay in memory.
      let list = (latest(nil) ?? builtIn()).map(List.init)
    else { return nil }
    return PublicSuffixes(
      contain: { isSuffix(list.handle, withoutLastDot($0)) == 1 },
      allow: { isAcceptable(list.handle, withoutLastDot($0), withoutLastDot($1)) == 1 })
  }()

  private typealias IsSuffix = @convention(c) (OpaquePointer, UnsafePointer<CChar>) -> CInt
  private typealias IsAcceptable =
    @convention(c) (OpaquePointer, UnsafePointer<CChar>, UnsafePointer<CChar>) -> CInt
  private typealias Latest = @convention(c) (UnsafePointer<CChar>?) -> OpaquePointer?
  private typealias BuiltIn = @convention(c) () -> OpaquePointer?

  /// libpsl only reads a list, from any number of threads.
  private struct List: @unchecked Sendable {
    let handle: OpaquePointer
  }

  /// `example.com.` is the same domain as `example.com`, and the list has only names without a dot at their end.
  private static func withoutLastDot(_ name: String) -> String { name.hasSuffix(".") ? String(name.dropLast()) : name }
}
