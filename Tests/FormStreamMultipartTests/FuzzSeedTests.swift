import Foundation
import FormStreamFuzzProperties
import Testing

/// The fuzzer's seeds and findings pass in a debug build too, in which Swift checks more.
@Suite struct FuzzSeedTests {
  private static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Fuzz/Seeds")

  @Test(arguments: Property.allCases)
  func `each property holds for all of its seeds`(property: Property) throws {
    let folder = Self.folder.appending(path: property.rawValue)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
    #expect(names.count >= 10)
    for name in names.sorted() {
      let seed = try Data(contentsOf: folder.appending(path: name))
      #expect(throws: Never.self, "\(name)") { try property.check(Array(seed)) }
    }
  }

  @Test func `each fuzz target has the name of its property`() throws {
    let folder = Self.folder.deletingLastPathComponent().appending(path: "Targets")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
    #expect(names.sorted() == Property.allCases.map { "\($0.rawValue).swift" }.sorted())
  }
}
