/// The arguments that a curl command line repeats as they were typed.
struct CurlArguments {
  let form: FormArguments
  let request: RequestArguments
  let downloading: DownloadArguments
  /// The file that is the complete body.
  let file: PlannedTarget.SentFile?
  /// Where the response goes, as it was typed; nil if it was not.
  let output: DownloadArguments.Output?
}
