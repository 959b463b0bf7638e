import Foundation

/// Whether the file system of temporary directories can reserve room for a file that is not written yet.
public let canReserveRoom: Bool = {
  guard let place = try? TemporaryDirectory() else { return false }
  let script = "fallocate -n -l 1000000 file && [ $(stat -c %b file) -gt 1000 ]"
  return (try? run(program: "/bin/bash", ["-c", script], in: place))?.exit == 0
}()
