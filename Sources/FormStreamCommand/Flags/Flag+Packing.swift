import FormStreamBatch

/// The flags about requests with several files, or with a slice of a file.
extension Flag {
  static let packingFlags = [
    Flag(
      long: "per-request", value: Value(placeholder: "N"), group: .batch, verbs: [.send],
      summary: "Send up to N files in each request (default: 1)",
      detail: """
        They are the last parts of one form, in the order in which they are listed. Each has a record of its own. \
        In --as and --filename, {i} is the place of the file in the request, from 0. Values of one file can't be used \
        in text fields. Memory grows with -j times N.
        """
    ) { (arguments, argument) throws(Failure) in
      let count = try argument.count(for: "--per-request", upTo: Packing.maximumFiles)
      guard count > 0 else {
        throw .usage(
          "\(argument.named("--per-request")) is 0: write a number from 1 to \(Packing.maximumFiles)."
        )
      }
      arguments.sending.filesPerRequest = count
    },
    Flag(
      long: "per-request-bytes", value: Value(placeholder: "SIZE"), group: .batch, verbs: [.send],
      summary: "Send files of up to SIZE bytes in each request, such as 8M",
      detail: "A larger file is sent in a request of its own. With --per-request, both limits hold."
    ) { (arguments, argument) throws(Failure) in
      arguments.sending.bytesPerRequest = try argument.size(for: "--per-request-bytes")
    },
    Flag(
      long: "together", group: .batch, verbs: [.send],
      summary: "Send all files in one request, at most \(Packing.maximumFiles)",
      detail: """
        All files are listed before the request begins, because it announces its length. Memory grows with their number: \
        a few kilobytes for each.
        """
    ) { (arguments, _) in arguments.sending.sendsTogether = true },
    Flag(
      long: "slice", value: Value(placeholder: "SIZE"), group: .batch, verbs: [.send],
      summary: "Send each file in slices of SIZE bytes, one after another, such as 8M",
      detail: """
        Each slice is a form of its own. In --field-template, -F, --as and --filename, {slice} is its number, from 0, \
        {slices} how many there are, {offset} where it begins in the file, and {total} the size of the file. The file is \
        accepted if all slices are. With --journal, the same command goes on after the last slice that was accepted.
        """
    ) { (arguments, argument) throws(Failure) in
      arguments.sending.sliceSize = try argument.size(for: "--slice")
    },
  ]
}

extension Argument {
  /// The argument as a number of bytes, at least 1.
  func size(for flag: String) throws(Failure) -> Int64 {
    guard let size = Int64(size: shown), size > 0 else {
      throw .usage(
        "\(named(flag)) is not a size: write a number of bytes from 1, with or without K, M, G or T at the end, such as "
          + "8M.")
    }
    return size
  }
}
