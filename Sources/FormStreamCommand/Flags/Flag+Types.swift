import FormStreamMediaTypes

/// The flags that say how media types are told; every command that sends files knows them.
extension Flag {
  private static let typeVerbs: [Verb] = [.encode, .sniff, .post, .put]

  static let typeFlags = [
    Flag(
      long: "sniff",
      value: Value(
        placeholder: "POLICY",
        completion: .choices(SniffingPolicy.all.map(\.description))),
      group: .types, verbs: typeVerbs,
      summary: "How types are told: auto, content, extension or none",
      detail: """
        content asks libmagic, which looks at the first 64 KiB; extension looks at the name alone, in \
        a table of its own and in /etc/mime.types. auto (the default) takes the content's word; where \
        that is general (text, an archive, bytes), an extension that does not contradict it says the \
        rest. none tells nothing. What nothing tells is application/octet-stream.
        """
    ) { (typed, argument) throws(Failure) in
      typed.sniffing = try argument.choice(for: "--sniff", "policy", among: SniffingPolicy.all)
    },
    Flag(
      long: "type-for", value: Value(placeholder: "GLOB=TYPE"), group: .types, verbs: typeVerbs,
      summary: "The type of files whose names match; the first that matches counts",
      detail: """
        Such as '*.heic=image/heic'. A pattern with a slash is for the whole path. It goes before all \
        sniffing; --type and ;type= go before it.
        """
    ) { (typed, argument) throws(Failure) in
      let text = try argument.text(for: "--type-for")
      do throws(MediaTypesError) {
        typed.typeOverrides.append(try TypeOverride(text))
      } catch {
        throw .usage("--type-for \(error.description)")
      }
    },
    Flag(
      long: "charset", group: .types, verbs: typeVerbs,
      summary: "Tell text with its charset, as libmagic guesses it"
    ) { (typed, _) in typed.tellsCharset = true },
    Flag(
      long: "magic-file", value: Value(placeholder: "FILE", completion: .path), group: .types,
      verbs: typeVerbs,
      summary: "libmagic's compiled database, in place of the system's"
    ) { (typed, argument) in typed.magicFile = argument },
  ]
}

extension LowArguments {
  /// Tells types as the flags say; a database that can't be used is a note, and extensions go on.
  func sniffer() -> MediaTypeSniffer {
    MediaTypeSniffer(
      policy: sniffing, overrides: typeOverrides, database: magicFile?.path,
      includesCharset: tellsCharset)
  }
}
