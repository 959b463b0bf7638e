import FormStreamMediaTypes

extension MediaTypeSniffer {
  /// A sniffer that follows the flags. If its database can't be used, it warns and detects types by extension.
  convenience init(_ arguments: TypeArguments) {
    self.init(
      policy: arguments.policy, overrides: arguments.overrides,
      database: arguments.magicFile?.path, includesCharset: arguments.detectsCharset)
  }
}

/// Warns if the sniffer can't read contents.
func warn(of sniffer: MediaTypeSniffer?) {
  guard let warning = sniffer?.warning else { return }
  StandardError.note(
    "\(warning.description) Until then types are detected by extension alone, if --sniff allows it."
  )
}
