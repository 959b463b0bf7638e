import FormStreamMultipart
import FormStreamPlatform
import FormStreamTestSupport
import Glibc
import Testing

/// The lock of a file that grows over several runs.
@Suite struct PartialFileTests {
  /// Between `fork` and `exec`, a program that another thread starts has all files open. Here, a second descriptor has it.
  @Test func `a file that was left can be taken while another descriptor still has it open`() throws {
    let place = try TemporaryDirectory()
    let directory = try DirectoryDescriptor(LocalPath(place.path))
    let name = FileName(bytes: Array("f.part".utf8))
    var file = try PartialFile(creating: name, in: directory) { _ in }
    #expect(try file != nil && PartialFile(leftAs: name, in: directory) == nil)
    var (own, wanted) = (stat(), stat())
    #expect(stat(place.path("f.part"), &wanted) == 0)
    let number = try #require(
      openDescriptors().first { number in
        fstat(number, &own) == 0 && own.st_ino == wanted.st_ino && own.st_dev == wanted.st_dev
      })
    let other = dup(number)
    defer { close(other) }
    file = nil
    #expect(try PartialFile(leftAs: name, in: directory) != nil)
  }
}
