import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Testing

@testable import FormStreamHTTP

/// The partial files and records of downloads that have the same name.
@Suite struct PartialFileStoreTests {
  @Test func `a record that another download has removed is written again`() throws {
    let place = try TemporaryDirectory()
    let url = try HTTPURL("http://localhost/file")
    let destination = DownloadDestination.file(LocalPath(place.path("file")))
    let store = PartialFileStore(
      url: url, names: DownloadName(try destination.place.get(), url),
      directory: try DirectoryDescriptor(FileName(place.path)))
    let version = ResourceVersion(
      entityTag: nil, lastModified: nil, date: nil, encoding: nil, source: "", completeSource: "",
      length: nil)
    let (file, record) = try store.make {
      try PartialFileRecord(url, $0, boot: nil, version: version, serverName: nil)
    }
    store.removeRecord(of: file)
    #expect(try place.names == ["file.part"])
    try store.restore(record, of: file)
    #expect(try place.names.sorted() == ["file.part", "file.part.json"])
  }
}
