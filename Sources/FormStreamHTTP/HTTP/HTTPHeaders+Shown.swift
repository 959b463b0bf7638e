import FormStreamMultipart

extension HTTPHeaders {
  /// The headers for people, with secrets masked.
  ///
  /// - Parameters:
  ///   - url: the URL that the headers came from or go to. If this URL is a secret, so are the URLs in the headers.
  ///   - showsSetCookie: whether the values of `Set-Cookie` are shown.
  package func shown(
    at url: HTTPURL, showsSetCookie: Bool = false
  ) -> [(name: String, value: String)] {
    fields.map { field in
      if showsSetCookie, field.name.isSameHeaderName(as: "Set-Cookie") {
        return (field.name, field.value)
      }
      guard Self.namesOfURLs.contains(where: { field.name.isSameHeaderName(as: $0) }) else {
        return (field.name, field.shownValue)
      }
      let isURL = (try? url.resolving(field.value)) != nil
      let value = isURL ? field.shownValue : field.value.hidingSecretsOfInvalidURL
      return (field.name, url.isSecret ? "***" : value)
    }
  }

  private static let namesOfURLs = ["Location", "Content-Location", "Link", "Refresh", "Referer"]
}
