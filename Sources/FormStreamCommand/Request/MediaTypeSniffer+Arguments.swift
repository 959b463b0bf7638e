import FormStreamMediaTypes

extension LowArguments {
  /// A sniffer that follows the flags. If its database can't be used, it warns and detects types by extension.
  func sniffer() -> MediaTypeSniffer {
    MediaTypeSniffer(
      policy: sniffing, overrides: typeOverrides, database: magicFile?.path,
      includesCharset: detectsCharset)
  }
}

/// Warns if the sniffer can't read contents.
func warn(of sniffer: MediaTypeSniffer?) {
  guard let warning = sniffer?.warning else { return }
  StandardError.note(
    "\(warning.description) Until then types are detected by extension alone, if --sniff allows it."
  )
}
