import FormStreamMediaTypes

/// The flags about detecting media types, for every command that detects them.
extension Flag {
  private static let typeVerbs: [Verb] = [.encode, .sniff, .post, .put, .send, .plan]

  static let typeFlags = [
    Flag(
      long: "sniff",
      value: Value(
        placeholder: "POLICY",
        completion: .choices(SniffingPolicy.all.map(\.description))),
      group: .types, verbs: typeVerbs,
      summary: "How types are detected: auto, content, extension or none (default: auto)",
      detail: """
        content uses libmagic, which reads the first 64 KiB. extension uses the name alone, with a built-in \
        table and /etc/mime.types. auto (the default) uses the contents; if their type is general (text, an \
        archive, bytes), an extension that does not contradict it makes it more exact. none detects \
        nothing. A file whose type is not detected is application/octet-stream.
        """
    ) { (arguments, argument) throws(Failure) in
      arguments.types.areGiven = true
      arguments.types.policy = try argument.choice(
        for: "--sniff", "policy", among: SniffingPolicy.all)
    },
    Flag(
      long: "type-for", value: Value(placeholder: "GLOB=TYPE"), group: .types, verbs: typeVerbs,
      summary: "Set the type of files whose names match GLOB; the first match counts",
      detail: """
        Such as '*.heic=image/heic'. A pattern with a slash is compared with the complete path. The flag \
        overrides detection; --type and ;type= override the flag.
        """
    ) { (arguments, argument) throws(Failure) in
      let text = try argument.text(for: "--type-for")
      guard let override = try? TypeOverride(text) else {
        throw .usage(
          "\(argument.named("--type-for")) is not GLOB=TYPE: write it like *.heic=image/heic.")
      }
      arguments.types.areGiven = true
      arguments.types.overrides.append(override)
    },
    Flag(
      long: "charset", group: .types, verbs: typeVerbs,
      summary: "Add the charset to the type of text, as libmagic guesses it"
    ) { (arguments, _) in (arguments.types.detectsCharset, arguments.types.areGiven) = (true, true)
    },
    Flag(
      long: "magic-file", value: Value(placeholder: "FILE", completion: .path), group: .types,
      verbs: typeVerbs,
      summary: "The compiled database of libmagic to use, in place of the system's"
    ) { (arguments, argument) in
      (arguments.types.magicFile, arguments.types.areGiven) = (argument, true)
    },
  ]
}
