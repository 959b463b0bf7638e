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
  /// Where the response goes, as it was typed; nil if it was not.
  let output: DownloadArguments.Output?
  let downloading: DownloadArguments
  let growth: FileGrowth
}

extension LowArguments {
  func curlArguments(
    _ upload: PlannedTarget.Upload?, _ output: DownloadArguments.Output?
  ) -> CurlArguments {
    CurlArguments(
      parts: parts, boundary: boundary, escaping: escaping ?? .browser, browserText: browserText,
      request: request, upload: upload, output: output, downloading: downloading,
      growth: growth)
  }
}
