import FormStream

/// Whether a redirect is followed: never so that another request would be answered in this one's name.
extension TransferRun {
  /// What an answer comes to that sends the request elsewhere.
  func redirection(
    _ status: Int, _ location: String, _ course: Course, isSent: Bool
  ) -> Step {
    let place = location.hidingCredentials
    func refuse(_ why: String) -> Step {
      .conclude(
        .init(
          .failed,
          TransferError(
            .redirectRefused, on: place,
            "The server at \(course.url) answered \(status) and sends \(course.method) to "
              + "\(place.quoted): \(why).")))
    }
    let target = try? course.url.resolving(location)
    if course.changesSomething {
      switch status {
      case 303:
        guard isSent else {
          return .conclude(
            .init(
              .unknown,
              TransferError(
                .respondedEarly, on: course.url.description,
                "The server at \(course.url) answered 303 before it had the whole body.")))
        }
        guard let target, reason(against: target, course) == nil else {
          return .conclude(.init(.ok, nil))
        }
        return .fetchPage(target)
      case 307, 308: break
      default:
        return refuse(
          "a GET there would prove nothing, and only 307 and 308 mean that the request is to be sent again. "
            + "Send it there yourself, if that is right")
      }
      if course.body?.isReplayable == false {
        return .conclude(
          .init(
            .failed,
            TransferError(
              .notReplayable, on: place,
              "The server at \(course.url) sends the request on to \(place.quoted), and its body is a "
                + "stream that can be read once: send it there at once, or give a file.")))
      }
    } else if ![301, 302, 303, 307, 308].contains(status) {
      return refuse("that is no redirect to be followed")
    }
    guard let target else {
      return refuse("that is no URL of http or https, and is not gone to")
    }
    if let why = reason(against: target, course) {
      if course.redirects >= request.options.redirects.limit {
        return .conclude(
          .init(
            .failed,
            TransferError(
              .tooManyRedirects, on: place,
              "There were \(course.redirects) redirects, the last to \(place.quoted): \(why).")))
      }
      return refuse(why)
    }
    return .follow(target)
  }

  /// Why a redirect is not followed; nil where it is.
  private func reason(against target: HTTPURL, _ course: Course) -> String? {
    if course.redirects >= request.options.redirects.limit {
      return "\(request.options.redirects.limit) are followed at the most"
    }
    if course.url.origin.scheme == "https", target.origin.scheme == "http" {
      return "what was encrypted is not sent in the clear"
    }
    if target.origin != course.url.origin, !request.options.redirects.allowsOtherOrigins {
      return "that is another server, which is gone to only where that is allowed (-L)"
    }
    return nil
  }
}
