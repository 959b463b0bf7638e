import FormStreamMultipart

extension TransferRun {
  /// Notes that credentials in a redirect's URL are not used: a redirect must not choose whose credentials are sent.
  func noteUnusedCredentials(of location: HTTPURL) {
    guard location.credentials != nil else { return }
    tracer?.note("The user and the password of the Location are not used.")
  }

  /// Gets the page that a 303 named.
  func fetchPage(_ page: NextAttempt, _ history: AttemptHistory) async -> TransferResult {
    var next = page
    // The page's own attempts are not counted in the result.
    var pageHistory = history
    pageHistory.noteRedirect(sendsKey: next.sendsOwnHeaders)
    while let result = try? await send(&next, pageHistory) {
      var facts = result.facts
      if let question = result.trustQuestion {
        pageHistory.note(result)
        facts = await self.facts(of: result, decidedOn: question, next.url, pageHistory)
      }
      switch attempt(next, pageHistory, .none, result).decision(on: facts) {
      case .follow(let url):
        if await follow(url, isCarriedOut: true, &next, result) != nil {
          return await conclude(history, .init(.ok, nil))
        }
        noteUnusedCredentials(of: url)
        pageHistory.noteRedirect(sendsKey: next.sendsOwnHeaders)
      case .conclude(let verdict):
        guard let page = result.response else { return await conclude(history, .init(.ok, nil)) }
        var history = history
        history.replaceResponse(with: page, redirects: pageHistory.redirects)
        history.chosenTarget = result.chosenTarget
        return await conclude(history, verdict)
      case .repeatAtOnce(let repetition): next.repeatAtOnce(repetition)
      case .repeatOverHTTP11: next.repeatOverHTTP11()
      case .authenticate(let verdict):
        if let verdict = await authenticate(&next, result, or: verdict) {
          return await conclude(history, verdict)
        }
      case .keepEarlierResponse, .retry, .repeatWithoutExpect, .repeatWithLength, .fetchPage,
        .begin, .resume, .awaitServer, .beginAgain, .append:
        return await conclude(history, .init(.ok, nil))
      }
    }
    return await conclude(history, .init(.ok, nil))
  }
}
