@testable import FormStreamHTTP
import Testing

/// The file beside a partial file: one that an earlier version has written continues its download.
@Suite struct PartialFileRecordTests {
  /// Written by hand, with all keys in it.
  private static let record = """
    {
      "boot" : "1f",
      "file" : {
        "birth" : {
          "nanoseconds" : 5,
          "seconds" : 1700000000
        },
        "inode" : 17
      },
      "left" : {
        "changed" : {
          "nanoseconds" : 6,
          "seconds" : 1700000001
        },
        "size" : 50001
      },
      "name" : "a/\\\\ü",
      "schema" : "formstream.download/1",
      "synchronized" : 50000,
      "url" : "http://a/",
      "url_sha256" : "282a35d7a0da6ae48eee116ad6193fa861bd88958a4c38a8042f6712ed9474f7",
      "version" : {
        "content_encoding" : "br",
        "date" : "Sun, 06 Nov 1994 08:49:38 GMT",
        "etag" : "\\"v1\\"",
        "last_modified" : "Sun, 06 Nov 1994 08:49:37 GMT",
        "length" : 70000,
        "source_sha256" : "aa",
        "source_with_query_sha256" : "bb"
      }
    }

    """

  private func read(_ text: String) throws -> PartialFileRecord? {
    PartialFileRecord(Array(text.utf8), of: try HTTPURL("http://a/"))
  }

  @Test func `a record is written as it was read`() throws {
    let record = try #require(try read(Self.record))
    #expect(String(decoding: record.bytes, as: UTF8.self) == Self.record)
    #expect(record.serverName == "a/\\ü")
    #expect(record.left?.size == 50001)
    #expect(record.version.entityTag == "\"v1\"")
    #expect(PartialFileRecord.isRecord(Array(Self.record.utf8)))
  }

  /// What isn't known has no key.
  @Test(arguments: ["boot", "name", "content_encoding", "date", "etag", "last_modified", "length"])
  func `a record is read without what is not known`(key: String) throws {
    let lines = Self.record.split(separator: "\n").filter { !$0.contains("\"\(key)\" :") }
    let text = lines.joined(separator: "\n").replacing(",\n  }", with: "\n  }") + "\n"
    let record = try #require(try read(text), "\(text)")
    #expect(!String(decoding: record.bytes, as: UTF8.self).contains("\"\(key)\" :"))
  }

  @Test(arguments: [
    ("\"boot\" : \"1f\"", "\"boot\" : 1"), ("\"inode\" : 17", "\"inode\" : \"17\""),
    ("\"inode\" : 17", "\"inode\" : 17.5"), ("\"size\" : 50001", "\"size\" : null"),
    ("\"length\" : 70000", "\"length\" : -1"), ("\"etag\" : \"\\\"v1\\\"\"", "\"etag\" : []"),
    ("\"synchronized\" : 50000", "\"synchronized\" : -1"),
    ("\"synchronized\" : 50000", "\"synchronized\" : 99999999999999999999"),
    ("formstream.download/1", "formstream.download/2"), ("282a35d7", "00000000"),
    ("\"birth\" : {", "\"birth\" : 1, \"x\" : {"), ("\"schema\"", "\"Schema\""), ("}\n", "}\n}"),
  ])
  func `a record with another value is none`(old: String, new: String) throws {
    #expect(Self.record.contains(old))
    #expect(try read(Self.record.replacing(old, with: new)) == nil)
  }

  /// Overlay file systems have such inodes.
  @Test func `an inode of 64 bits is kept`() throws {
    let text = Self.record.replacing("\"inode\" : 17", with: "\"inode\" : -9223372036854775807")
    let record = try #require(try read(text))
    #expect(String(decoding: record.bytes, as: UTF8.self) == text)
  }
}
