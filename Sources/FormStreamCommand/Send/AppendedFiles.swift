import FormStreamBatch
import FormStreamMultipart

/// The files of `--log` and `--map`. They must not be sent, because they change while files are sent. Files that lists and
/// manifests name are known only when the lists and manifests are read.
struct AppendedFiles: Sendable {
  private let files: [FileAtPath: (flag: String, path: LocalPath)]

  /// The files must exist.
  init(of plan: SendPlan) {
    var files: [FileAtPath: (flag: String, path: LocalPath)] = [:]
    for (flag, path) in [("--log", plan.log), ("--map", plan.map)] {
      if let path, let file = FileAtPath(at: path) { files[file] = (flag, path) }
    }
    self.files = files
  }

  /// Returns a file that is to be sent, or fails if it is one of these files.
  func check(_ sent: BatchFile?) throws(Failure) -> BatchFile? {
    guard !files.isEmpty, let sent, let file = FileAtPath(at: sent.path), let own = files[file]
    else { return sent }
    throw Failure(
      .inputOutput,
      "\(own.flag) appends to the file \"\(own.path)\", which is among the files to send: choose another name.")
  }
}
