import FormStreamMultipart

/// The arguments that a curl command line repeats as they were typed.
struct CurlArguments {
  let parts: [PartArguments]
  let boundary: String?
  let escaping: EscapingProfile
  let browserText: Bool
  let request: RequestArguments
  /// The file that is the complete body.
  let upload: PlannedTarget.Upload?
  let output: Argument?
}

extension LowArguments {
  func curlArguments(_ upload: PlannedTarget.Upload?) -> CurlArguments {
    CurlArguments(
      parts: parts, boundary: boundary, escaping: escaping ?? .browser, browserText: browserText,
      request: request, upload: upload, output: output)
  }
}
