import FormStreamTransfer
import Foundation

// Downloads a file in a separate process, which a test may kill: `formstream-download-probe URL FILE` starts it or
// continues what is left, and `formstream-download-probe --resume DATA` continues what the file DATA says. Prints the
// outcome, the size and where it was continued.

let arguments = CommandLine.arguments
let session = try TransferSession()
let task: TransferTask<DownloadResult>
if arguments[1] == "--resume" {
  let data = try Data(contentsOf: URL(fileURLWithPath: arguments[2]))
  task = try session.startDownload(
    resuming: JSONDecoder().decode(DownloadResumeData.self, from: data))
} else {
  let request = try TransferRequest(.get, arguments[1], options: .download)
  task = session.startDownload(request, DownloadSettings(.file(arguments[2])))
}
let result = await task.result
print("\(result.outcome) \(result.file?.size ?? -1) \(result.file?.resumedFrom ?? -1)")
