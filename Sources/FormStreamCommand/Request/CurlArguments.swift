/// The arguments that a curl command line repeats as they were typed.
struct CurlArguments {
  let form: FormArguments
  let request: RequestArguments
  let downloading: DownloadArguments
  /// The file that is the complete body.
  let file: PlannedTarget.SentFile?
  /// The `-o` or `-O` for the response, as it was typed; nil if there is none.
  let output: DownloadArguments.Output?
}
