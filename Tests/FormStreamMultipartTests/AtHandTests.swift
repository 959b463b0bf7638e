import FormStreamMultipart
import FormStreamTestSupport
import Glibc
import Testing

/// What can be laid out without waiting for anything, and so on any thread.
@Suite struct AtHandTests {
  private let directory: TemporaryDirectory
  init() throws { directory = try TemporaryDirectory() }

  private func isAtHand(_ body: PartBody, type: MediaType? = "a/b") -> Bool {
    Form { Part(name: "a", filename: "f", type: type, body: body) }.isAtHand
  }

  @Test func `bytes in memory are at hand unless they are many`() {
    #expect(PartBody.text("x").isAtHand)
    #expect(PartBody.bytes([1, 2, 3]).isAtHand)
    #expect(!PartBody.bytes([UInt8](repeating: 1, count: 10_000_000)).isAtHand)
    #expect(Form { Part.text("a", "1") }.isAtHand)
    #expect(!Form(parts: (0..<1000).map { Part.text("\($0)", "1") }).isAtHand)
  }

  @Test func `a part without a type has to be looked into`() {
    #expect(isAtHand(.text("x")))
    #expect(!isAtHand(.text("x"), type: nil))
  }

  @Test func `streams, descriptors, FIFOs, directories and missing files are not at hand`() throws {
    try makeFIFO(directory.local("fifo"))
    #expect(!PartBody.file(directory.local("fifo")).isAtHand)
    #expect(!PartBody.file(LocalPath(directory.path)).isAtHand)
    #expect(!PartBody.file(directory.local("none")).isAtHand)
    #expect(!PartBody.file("a\0b").isAtHand)
    #expect(!PartBody.descriptor(0).isAtHand)
    #expect(!PartBody.file("/proc/self/status").isAtHand)
  }

  /// Whether temporary files are on a device of their own, and not in memory or in a container's layers.
  private static let isOnDisk: Bool = {
    var status = stat()
    let directory = try? TemporaryDirectory()
    return stat(directory?.path ?? "", &status) == 0 && status.st_dev >> 8 & 0xFFF != 0
  }()

  @Test(.enabled(if: isOnDisk, "temporary files are not on a disk"))
  func `a file is at hand once its disk is known and its last change is over`() throws {
    let path = try directory.write("file", "1")
    // Laying it out waits for both.
    _ = try PartBody.file(path).layout()
    #expect(PartBody.file(path).isAtHand)
    #expect(isAtHand(.file(path)))
    #expect(!isAtHand(.file(path), type: nil))
    try makeSymlink(directory.local("link"), to: "file")
    #expect(PartBody.file(directory.local("link")).isAtHand)
    #expect(!PartBody.file(directory.local("link"), accepting: .regularOnly).isAtHand)
    // Its times might not show the next change.
    try directory.write("file", "2")
    #expect(!PartBody.file(path).isAtHand)
  }
}
