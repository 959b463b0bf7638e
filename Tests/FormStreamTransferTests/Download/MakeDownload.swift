import FormStream
import FormStreamTestSupport
import Foundation
import FormStreamTransfer

/// A request for a download that waits no longer than it must.
func downloadRequest(_ url: String, attempts: Int = 3) throws -> TransferRequest {
  try makeRequest(.get, url, nil, attempts: attempts)
}

extension TemporaryDirectory {
  /// The names of the files in it, in order.
  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
  }

  /// The bytes of a file; nil if there is none.
  func bytes(_ name: String) -> [UInt8]? {
    FileManager.default.contents(atPath: path(name)).map { [UInt8]($0) }
  }
}

/// The digest that another program computes.
func sha256(_ bytes: [UInt8]) throws -> String {
  let place = try TemporaryDirectory()
  let path = try place.write("bytes", bytes)
  let output = try run(program: "/usr/bin/sha256sum", [path.description])
  return String(output.output.prefix(64))
}

extension TransferSession {
  /// Starts a download and waits for its result.
  func downloadResult(
    of request: TransferRequest, _ settings: DownloadSettings
  ) async -> DownloadResult {
    await startDownload(request, settings).result
  }
}
