import Glibc

// Gives every integer, duration and range of the public API its extreme values, a cell after the other:
// `formstream-extremes-probe FIRST` begins with that number of a cell. Each cell must end with a result or an error. Before
// each cell its number and name are printed, so that the last line tells which one has ended the process; the last line of
// all is `done N`.

let first = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) ?? 0 : 0
// A write to a connection that was closed is an error of that cell.
signal(SIGPIPE, SIG_IGN)

let server = try ProbeServer()
let cells = multipartCells() + requestCells(server) + sessionCells(server) + receiverCells()
for (number, cell) in cells.enumerated() where number >= first {
  print("\(number) \(cell.name)")
  fflush(nil)
  let end = await cell.run()
  print("  \(end.split(separator: "\n").joined(separator: " ").prefix(160))")
}
print("done \(cells.count)")
await server.stop()
