import FormStreamHTTP

extension [HTTPURL] {
  /// The URLs with the text that flags append to their queries. Records show this text too.
  init(
    _ typed: [URLArgument], _ arguments: RequestArguments, _ input: InputReader
  ) throws(Failure) {
    let query = try [URLEncodedField](arguments.query)
    let data = try Self.queryData(arguments, input)
    self = []
    for argument in typed {
      let url = try argument.url(appending: query, data, withPathAsIs: arguments.keepsPath)
      guard !arguments.requiresHTTPS || url.origin.scheme == "https" else {
        throw .usage(
          "The URL begins with \(url.origin.scheme):, and --proto allows only https: write https, or leave --proto out."
        )
      }
      try url.checkLeftOut(arguments)
      append(url)
    }
  }

  /// The text of `--url-query` and `-G`, which is appended as it is.
  private static func queryData(
    _ arguments: RequestArguments, _ input: InputReader
  ) throws(Failure) -> [String] {
    var texts: [String] = []
    for piece in arguments.queryData + (arguments.putsDataIntoURL ? arguments.data : []) {
      guard input.readsStandardInput || !piece.isStandardInput else {
        throw .usage(
          "The data of \(piece.flag) is part of the URL, and comes from standard input, which is read only to send it: use a file."
        )
      }
      if piece.isStandardInput { input.announceKeyboard() }
      let bytes = try piece.bytes()
      guard !bytes.isEmpty else { continue }
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw .usage(
          "The data of \(piece.flag) is not UTF-8, so that it can't stand in a URL: --data-urlencode encodes it."
        )
      }
      texts.append(text)
    }
    return texts
  }
}

extension [URLEncodedField] {
  /// The fields that `--query` adds to a URL.
  init(_ typed: [Argument]) throws(Failure) {
    self = []
    for argument in typed {
      let split = argument.splitAtEquals()
      append(
        URLEncodedField(
          try (split?.name ?? argument).text(for: "--query"),
          try split.map { (split) throws(Failure) in try split.value.text(for: "--query") }))
    }
  }
}

extension HTTPURL {
  /// Fails if `-H` leaves out a header that the URL sets.
  func checkLeftOut(_ arguments: RequestArguments) throws(Failure) {
    guard credentials != nil, try OmittedHeaders(arguments).contain("Authorization") else { return }
    throw .usage(
      "-H leaves out Authorization, which the user and the password of the URL set: leave out one of them."
    )
  }
}
