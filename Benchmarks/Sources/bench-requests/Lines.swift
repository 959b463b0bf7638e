import Glibc
import Measuring

/// The lines of a file.
func lines(of path: String) throws -> [String] {
  guard let file = fopen(path, "r") else { throw Failure("\(path) can't be opened.") }
  defer { fclose(file) }
  var lines: [String] = []
  var line: UnsafeMutablePointer<CChar>?
  var room = 0
  defer { free(line) }
  while getline(&line, &room, file) > 0, let line {
    lines.append(String(String(cString: line).prefix { $0 != "\n" }))
  }
  return lines
}
