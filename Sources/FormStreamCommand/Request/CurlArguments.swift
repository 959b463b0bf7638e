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

extension CurlArguments {
  init(
    _ arguments: LowArguments, upload: PlannedTarget.Upload?, output: DownloadArguments.Output?
  ) {
    self.init(
      parts: arguments.parts, boundary: arguments.boundary,
      escaping: arguments.escaping ?? .browser, browserText: arguments.browserText,
      request: arguments.request, upload: upload, output: output,
      downloading: arguments.downloading, growth: arguments.growth)
  }
}
