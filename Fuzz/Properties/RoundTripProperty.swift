import FormStreamMultipart
import FormStreamTestSupport

/// The input: the sizes of reads, cuts, an offset to seek to, then a form (see ``PlannedForm``).
func checkRoundTrip(_ choices: inout Choices) throws {
  let sizes = (0..<3).map { _ in 1 + Int(choices.byte()) }
  let places = (0..<4).map { _ in choices.place() }
  let target = choices.place()
  var options = FormParser.Options()
  options.allowsBareLF = choices.bool()
  let plan = PlannedForm(chosenBy: &choices)
  guard let form = try plan.form() else { return }

  let layout: BodyLayout
  do {
    layout = try form.layout(detector: NoDetection(), verify: true)
  } catch {
    try hold(plan.justifies(error), "\(error) of \(plan)")
    return
  }
  try hold(plan.isWritable, "laid out what can't be written: \(plan)")

  var bytes: [UInt8]
  do {
    bytes = try read(layout.makeReader(), sizes)
  } catch let error as MultipartError {
    // Streams are searched while they are read.
    try hold(error.code == .boundaryCollision && plan.justifies(error), "\(error) of \(plan)")
    return
  }
  Planted.change(&bytes)
  try checkLayout(layout, gives: bytes, goingTo: target % (bytes.count + 1), sizes)

  let boundary = FormParser.boundary(inContentType: layout.contentType) ?? ""
  let parts = try plan.check(bytes, boundary, cuts: places.cuts(of: bytes.count), options)
  for (index, part) in parts.enumerated() {
    let place = layout.placedPart(at: index)
    guard let start = place.bodyOffset, let length = place.bodyLength else { continue }
    try hold(
      Array(bytes[Int(start)..<Int(start + length)]) == part.body, "\(part) is not at \(start)")
  }
}

/// Reads to the end, each time into a block of exactly the size that is read.
private func read(_ reader: BodyReader, _ sizes: [Int]) throws -> [UInt8] {
  var bytes: [UInt8] = []
  var turn = 0
  while true {
    let room = UnsafeMutableRawBufferPointer.allocate(
      byteCount: sizes[turn % sizes.count], alignment: 1)
    defer { room.deallocate() }
    let count = try reader.read(into: room)
    try hold((0...room.count).contains(count), "\(count) bytes in room for \(room.count)")
    if count == 0 { return bytes }
    bytes.append(contentsOf: room[..<count])
    turn += 1
  }
}

private func checkLayout(
  _ layout: BodyLayout, gives bytes: [UInt8], goingTo target: Int, _ sizes: [Int]
) throws {
  if let length = layout.contentLength {
    try hold(length == bytes.count, "\(length) bytes were announced, \(bytes.count) came")
  }
  let reader = layout.makeReader()
  try reader.seek(to: Int64(target))
  try hold(try read(reader, sizes) == Array(bytes[target...]), "others behind byte \(target)")
  try reader.seek(to: 0)
  try hold(try read(reader, [1 << 16]) == bytes, "others from the start again")
  try hold(try layout.bytes(limit: bytes.count) == bytes, "others at once")
  let isOver = failure(of: { try layout.bytes(limit: bytes.count - 1) })?.code == .limitExceeded
  try hold(isOver, "\(bytes.count) bytes where there must be fewer")
}
