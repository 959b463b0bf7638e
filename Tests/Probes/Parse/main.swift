// Parses a form in an argument as `formstream parse` does, and prints each part's name and size. `.ci/linkage`
// looks at which libraries this program loads.

import FormStreamIntake
import FormStreamMultipart

let body = Array((CommandLine.arguments.dropFirst().first ?? "--B--\r\n").utf8)
let parser = try FormParser(boundary: "B")
let collector = PartCollector(DiscardedUpload())
try body.withUnsafeBytes { bytes in
  var input = bytes
  while let event = try parser.next(&input) { try collector.handle(event) }
}
while let event = try parser.finish() { try collector.handle(event) }
for part in collector.parts { print(part.name ?? "-", part.size) }
