import FormStreamMultipart
import FormStreamPlatform

/// Decides whether a redirect is followed. The response to a different request must never count as the response to this
/// one.
extension Attempt {
  /// Decides what follows a response with a status from 300 to 399 and a `Location`.
  func redirection(
    _ status: Int, _ location: String, _ facts: AttemptFacts
  ) -> AttemptDecision {
    let target = try? url.resolving(location)
    if changesSomething {
      switch status {
      case 307, 308: break
      case _ where options.redirects.repeatingStatuses.contains(status): break
      case 303: return pageDecision(target, facts)
      default:
        return refused(
          status, location,
          "the response to a GET there would prove nothing, and only 307 and 308 ask to send the request "
            + "again. Send it to that URL if that is right")
      }
      if hasUsedOneShot { return notReplayable(location) }
    } else if ![301, 302, 303, 307, 308].contains(status) {
      return refused(status, location, "this status is not a redirect that can be followed")
    }
    guard let target else {
      return refused(status, location, "that is not a URL of http or https")
    }
    guard let reason = reasonNotToFollow(target) else { return .follow(target) }
    return redirects >= options.redirects.limit
      ? tooMany(location, reason) : refused(status, location, reason)
  }

  private func pageDecision(_ target: HTTPURL?, _ facts: AttemptFacts) -> AttemptDecision {
    guard facts.isResponseToCompleteRequest else {
      return .conclude(
        .unknown,
        TransferError(
          .respondedEarly, on: url.description,
          "The server at \(url) responded 303 before it had the complete body."))
    }
    guard let target, reasonNotToFollow(target) == nil else { return .conclude(.ok, nil) }
    return .fetchPage(target)
  }

  /// Why a redirect is not followed; nil if it is followed.
  private func reasonNotToFollow(_ target: HTTPURL) -> Message? {
    if redirects >= options.redirects.limit {
      return "at most \(counted(options.redirects.limit, "redirect is", "redirects are")) followed"
    }
    if url.origin.scheme == "https", target.origin.scheme == "http" {
      return "an encrypted request is not sent again without encryption"
    }
    if options.redirects.requiresHTTPS, target.origin.scheme != "https" {
      return "only redirects to https are allowed"
    }
    if target.origin != url.origin, !options.redirects.allowsOtherOrigins {
      return "that is another server, and redirects to other servers are not allowed "
        + "(\(SettingName.otherOrigins) allows them)"
    }
    if target.origin != url.origin, changesSomething, earlierDoubt != .none, !isSafeWithoutKey {
      return
        "that is another server, which does not get the idempotency key, so it might carry out the request once more"
    }
    return nil
  }

  private func refused(_ status: Int, _ location: String, _ reason: Message) -> AttemptDecision {
    let maskedLocation = masked(location)
    return .conclude(
      .failed,
      TransferError(
        .redirectRefused, on: maskedLocation,
        "The server at \(url) responded \(status) and redirects \(method) to \(maskedLocation.quoted): "
          + "\(reason)."))
  }

  private func tooMany(_ location: String, _ reason: Message) -> AttemptDecision {
    let maskedLocation = masked(location)
    return .conclude(
      .failed,
      TransferError(
        .tooManyRedirects, on: maskedLocation,
        "\(counted(redirects, "redirect was", "redirects were")) followed, the last to \(maskedLocation.quoted): \(reason)."
      ))
  }

  /// The location for people, with secrets masked.
  private func masked(_ location: String) -> String {
    if url.isSecret { return "***" }
    let isURL = (try? url.resolving(location)) != nil
    return isURL ? location.hidingURLSecrets : location.hidingSecretsOfInvalidURL
  }

  private func notReplayable(_ location: String) -> AttemptDecision {
    let maskedLocation = masked(location)
    return .conclude(
      .failed,
      TransferError(
        .notReplayable, on: maskedLocation,
        "The server at \(url) redirects the request to \(maskedLocation.quoted), and its body is a stream that can be "
          + "read once: send it to that URL, or \(TransferError.onceRemedy(length: bodyLength))."))
  }
}
