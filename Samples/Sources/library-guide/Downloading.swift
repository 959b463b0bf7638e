import FormStream
import FormStreamTransfer
import Foundation

func downloadFilm(_ url: HTTPURL, in session: TransferSession) async throws {
  let file = try await session.download(url, to: "film.mp4") { print($0.responseFraction ?? 0) }
  print(file.path, file.size)
}

func downloadNamed(
  _ url: String, digest: SHA256Digest, in session: TransferSession
) async throws -> DownloadResult {
  var settings = DownloadSettings(.directory("films", named: .server))  // or .file(…), or .url
  settings.expectedSHA256 = digest
  let task = session.startDownload(try TransferRequest(.get, url, options: .download), settings)
  task.pause()  // resume(), cancel(); progress, state
  let result = await task.result  // file, outcome, error, restarts
  return result
}

func continueLater(
  _ task: TransferTask<DownloadResult>, at place: URL, token: String, in session: TransferSession
) async throws -> DownloadedFile {
  if let data = await task.cancelKeepingData() { try JSONEncoder().encode(data).write(to: place) }
  // Later:
  let data = try JSONDecoder().decode(DownloadResumeData.self, from: Data(contentsOf: place))
  let file = try await session.startDownload(resuming: data, credentials: .bearer(token)).file
  return file
}

func downloadChosen(_ url: HTTPURL, in session: TransferSession) async throws -> DownloadedFile {
  let settings = DownloadSettings(
    .chosen { head in
      let type = head.headers["Content-Type"].flatMap { MediaType($0) }
      return type?.essence == "video/mp4" ? .directory("films", named: .server) : .file("page.html")
    })
  let file = try await session.download(url, settings)
  return file
}

func becomeDownload(_ url: String, in session: TransferSession) async throws -> TransferResult {
  var request = try TransferRequest(.get, url)
  request.options.decisions.responseHead = { head in
    let type = head.headers["Content-Type"].flatMap { MediaType($0) }
    return type?.essence == "video/mp4" ? .download(DownloadSettings(.file("film.mp4"))) : nil
  }
  let result = await session.result(of: request)  // downloadedFile, response
  if let data = result.downloadResumeData { _ = try await session.startDownload(resuming: data).file }
  return result
}
