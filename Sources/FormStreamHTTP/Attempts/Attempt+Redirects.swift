import FormStreamMultipart
import FormStreamPlatform

/// Decides whether a redirect is followed. The response to a different request must never count as the response to this
/// request.
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
        return refused(status, location, .notRepeated)
      }
      if hasUsedOneShot {
        return .conclude(
          .failed, .redirectOfOneShot(url, to: masked(location), length: bodyLength))
      }
    } else if ![301, 302, 303, 307, 308].contains(status) {
      return refused(status, location, .status)
    }
    guard let target else { return refused(status, location, .notAURL) }
    guard let obstacle = obstacle(to: target) else { return .follow(target) }
    if case .limit = obstacle {
      return .conclude(
        .failed, .tooManyRedirects(redirects, to: masked(location), because: obstacle))
    }
    return refused(status, location, obstacle)
  }

  private func pageDecision(_ target: HTTPURL?, _ facts: AttemptFacts) -> AttemptDecision {
    guard facts.isResponseToCompleteRequest else {
      return .conclude(.unknown, .redirectedEarly(url))
    }
    guard let target, obstacle(to: target) == nil else { return .conclude(.ok, nil) }
    return .fetchPage(target)
  }

  /// Why a redirect is not followed; nil if it is followed.
  func obstacle(to target: HTTPURL) -> TransferError.RedirectObstacle? {
    if redirects >= options.redirects.limit { return .limit(options.redirects.limit) }
    return obstacleBeyondLimit(to: target)
  }

  /// Why a URL that a server named is not used, however few redirects led here; nil if it is used.
  func obstacleBeyondLimit(to target: HTTPURL) -> TransferError.RedirectObstacle? {
    if let obstacle = options.redirects.obstacle(from: url.origin, to: target.origin) { return obstacle }
    if target.origin != url.origin, changesSomething, earlierDoubt != .none, !isSafeWithoutKey {
      return .otherOriginWithoutKey
    }
    return nil
  }

  private func refused(
    _ status: Int, _ location: String, _ obstacle: TransferError.RedirectObstacle
  ) -> AttemptDecision {
    .conclude(
      .failed,
      .redirectRefused(url, status, of: sentMethod, to: masked(location), because: obstacle))
  }

  /// The location as messages show it, with secrets masked.
  private func masked(_ location: String) -> String {
    if url.isSecret { return "***" }
    let target = try? url.resolving(location)
    // A server may name the upload once more.
    if let target, target.absoluteString == resource?.url.absoluteString { return "\(target.origin)/***" }
    return target != nil ? location.hidingURLSecrets : location.hidingSecretsOfInvalidURL
  }
}

extension RedirectPolicy {
  /// Why a URL at another origin is not used; nil if it is used.
  func obstacle(from origin: HTTPURL.Origin, to target: HTTPURL.Origin) -> TransferError.RedirectObstacle? {
    if origin.scheme == "https", target.scheme == "http" { return .losesEncryption }
    if requiresHTTPS, target.scheme != "https" { return .notEncrypted }
    if !mayReach(target) { return .notEncryptedInSession }
    return target != origin && !allowsOtherOrigins ? .otherOrigin : nil
  }

  /// Whether the session allows requests to an origin, which may be without encryption.
  func mayReach(_ origin: HTTPURL.Origin) -> Bool {
    origin.scheme == "https" || unencryptedHosts?.contain(origin.host) ?? true
  }
}
