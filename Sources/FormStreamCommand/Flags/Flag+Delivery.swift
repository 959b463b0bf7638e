import FormStreamPlatform
import FormStreamTransfer

/// The flags that say how often, how fast and how long a request is sent, and where it may be sent on to.
extension Flag {
  private static let deliveryVerbs: [Verb] = [.post, .put]

  static let deliveryFlags = [
    Flag(
      long: "retry", value: Value(placeholder: "N"), group: .delivery, verbs: deliveryVerbs,
      summary: "Try again up to N times where that can do no harm",
      detail: """
        That is: what was not sent or not whole, 429 and 503; and whatever failed on its way with PUT or \
        an --idempotency-key. The wait doubles each time, and Retry-After goes before it. A body from a \
        pipe can't be sent twice.
        """
    ) { (typed, argument) throws(Failure) in
      typed.request.options.retry.attempts = try argument.count(for: "--retry", upTo: 1000) + 1
    },
    seconds("retry-max-time", "Begin no attempt later than so many seconds after the first") {
      $0.request.options.retry.timeLimit = $1
    },
    Flag(
      long: "retry-unsafe", group: .delivery, verbs: deliveryVerbs,
      summary: "Try again even where the request may have been carried out"
    ) { (typed, _) in typed.request.options.retry.retriesUnsafe = true },
    seconds("connect-timeout", "Seconds to reach the server (30)") {
      $0.request.options.limits.connect = $1
    },
    seconds("max-time", "Seconds for an attempt in all (no limit)") {
      $0.request.options.limits.attempt = $1
    },
    seconds("stall-timeout", "Seconds without a byte either way (60)") {
      $0.request.options.limits.stall = $1
    },
    seconds("answer-timeout", "Seconds from the body's end to the answer (300)") {
      $0.request.options.limits.response = $1
    },
    Flag(
      long: "limit-rate", value: Value(placeholder: "RATE"), group: .delivery, verbs: deliveryVerbs,
      summary: "Send at most so many bytes a second, such as 500K or 2M"
    ) { (typed, argument) throws(Failure) in
      guard let rate = Int64(size: argument.shown), rate > 0 else {
        throw .usage(
          "--limit-rate can't be \"\(argument.shown)\": write bytes a second, with or without K, M or G "
            + "behind, such as 500K.")
      }
      typed.request.options.maximumRate = rate
    },
    Flag(
      long: "location", short: "L", group: .delivery, verbs: deliveryVerbs,
      summary: "Follow redirects to other servers, too",
      detail: """
        Within the same server 307 and 308 are followed anyway, and the whole body is sent again. To another \
        one go no headers of yours and no credentials, and from https to http nothing goes.
        """
    ) { (typed, _) in typed.request.options.redirects.allowsOtherOrigins = true },
    Flag(
      long: "max-redirs", value: Value(placeholder: "N"), group: .delivery, verbs: deliveryVerbs,
      summary: "How many redirects are followed (5)"
    ) { (typed, argument) throws(Failure) in
      typed.request.options.redirects.limit = try argument.count(for: "--max-redirs", upTo: 1000)
    },
    Flag(
      long: "expect",
      value: Value(placeholder: "WHEN", completion: .choices(["auto", "always", "never"])),
      group: .delivery, verbs: deliveryVerbs,
      summary: "Ask before the body is sent: auto, always or never",
      detail: "auto (the default) asks for bodies over 1 MiB, and those of unknown length."
    ) { (typed, argument) throws(Failure) in
      switch argument.text {
      case "auto": typed.request.expectation = .automatic
      case "always": typed.request.expectation = .always
      case "never": typed.request.expectation = .never
      default:
        throw .usage(
          "--expect \"\(argument.shown)\" is not known: choose one of auto, always, never."
            + Suggestion.text(for: argument.shown, among: ["auto", "always", "never"]))
      }
    },
    seconds("expect100-timeout", "Seconds to wait for leave to send the body (1)") {
      $0.request.continuePatience = $1 ?? .zero
    },
  ]

  private static func seconds(
    _ long: String, _ summary: String,
    _ set: @escaping @Sendable (inout LowArguments, Duration?) -> Void
  ) -> Flag {
    Flag(
      long: long, value: Value(placeholder: "S"), group: .delivery, verbs: deliveryVerbs,
      summary: summary,
      detail: long == "expect100-timeout" ? "" : "A fraction may follow a dot; 0 is no limit."
    ) { (typed, argument) throws(Failure) in
      let time = try argument.seconds(for: "--\(long)")
      set(&typed, time == .zero ? nil : time)
    }
  }
}

extension Argument {
  /// A number of things.
  func count(for flag: String, upTo limit: Int) throws(Failure) -> Int {
    guard let text, text.isASCIIDigits, let count = Int(text),
      count <= limit
    else {
      throw .usage("\(flag) can't be \"\(shown)\": write a number from 0 to \(limit).")
    }
    return count
  }

  /// A time in seconds, such as `2` or `0.5`.
  fileprivate func seconds(for flag: String) throws(Failure) -> Duration {
    let longest = 1_000_000_000.0
    let isPlain = bytes.allSatisfy { $0.isASCIIDigit || $0 == UInt8(ascii: ".") }
    guard isPlain, let text, let seconds = Double(text), seconds <= longest else {
      throw .usage("\(flag) can't be \"\(shown)\": write seconds, such as 30 or 0.5.")
    }
    return .milliseconds(Int64((seconds * 1000).rounded(.up)))
  }
}
