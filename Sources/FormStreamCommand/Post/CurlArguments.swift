import FormStreamMultipart

/// The arguments that a curl command line repeats as they were typed.
struct CurlArguments {
  let parts: [PartArguments]
  let boundary: String?
  let escaping: EscapingProfile
  let browserText: Bool
  let request: RequestArguments
  let output: Argument?
}

extension LowArguments {
  var curlArguments: CurlArguments {
    CurlArguments(
      parts: parts, boundary: boundary, escaping: escaping ?? .browser, browserText: browserText,
      request: request, output: output)
  }
}
