import FormStreamMultipart

/// The flags of `bench` that no other command has.
extension Flag {
  static let benchFlags = [
    Flag(
      long: "size", value: Value(placeholder: "SIZE[,SIZE]..."), group: .benching, verbs: [.bench], common: [.bench],
      summary: "How many bytes to upload (default: 1G); with several sizes, memory over size",
      detail: """
        SIZE may end in K, M, G or T. The file is sparse: it takes no room on the disk. With several sizes, bench says how many \
        bytes of memory each program needs for another GiB.
        """
    ) { (arguments, argument) throws(Failure) in
      var sizes: [Int64] = []
      for text in argument.shown.split(separator: ",", omittingEmptySubsequences: false) {
        guard let size = Int64(size: String(text)), size > 0 else {
          throw .usage(
            "\(argument.named("--size")) has something that is no size: write numbers of bytes, such as 1G, or 1M,64M,1G.")
        }
        sizes.append(size)
      }
      arguments.benching.sizes = sizes
    },
    Flag(
      long: "from", value: Value(placeholder: "FILE", completion: .path), group: .benching, verbs: [.bench],
      summary: "Upload FILE, in place of a sparse file"
    ) { (arguments, argument) in arguments.benching.file = argument },
    Flag(
      long: "count", value: Value(placeholder: "N"), group: .benching, verbs: [.bench],
      summary: "How many times the file is in the form (default: 1)"
    ) { (arguments, argument) throws(Failure) in
      arguments.benching.count = try argument.positive(for: "--count", upTo: 1000)
    },
    Flag(
      long: "rounds", value: Value(placeholder: "N"), group: .benching, verbs: [.bench],
      summary: "How many rounds count (default: 5); the first round never does",
      detail: """
        In each round, each program uploads once, in an order of chance. The first round fills the system's caches. More rounds make \
        the range of a ratio narrower, so they show smaller differences.
        """
    ) { (arguments, argument) throws(Failure) in
      arguments.benching.rounds = try argument.positive(for: "--rounds", upTo: 1000)
    },
    Flag(
      long: "with",
      value: Value(placeholder: "PROGRAM[,PROGRAM]...", completion: .choices(Contender.known.map(\.name))),
      group: .benching, verbs: [.bench], common: [.bench],
      summary: "Compare with these programs: \(Contender.known.map(\.name).joined(separator: ", "))",
      detail: """
        requests, toolbelt, httpx and aiohttp are libraries of Python, which python3 must find. A program that is not installed is \
        named as missing. formstream is another run of this program: what differs then is chance. Any other program stands after \
        two hyphens, with {url} and {file} for what it uploads: -- curl -sS -T {file} {url}.
        """
    ) { (arguments, argument) in arguments.benching.programs.append(argument) },
    Flag(
      long: "plot", value: Value(placeholder: "FILE", completion: .path, use: .written), group: .benching,
      verbs: [.bench], common: [.bench],
      summary: "Draw memory over time, or with several sizes over size, as SVG"
    ) { (arguments, argument) in arguments.benching.plot = argument },
  ]
}

extension Argument {
  fileprivate func positive(for flag: String, upTo limit: Int) throws(Failure) -> Int {
    let count = try count(for: flag, upTo: limit)
    guard count > 0 else { throw .usage("\(named(flag)) is 0: choose a number from 1 to \(limit).") }
    return count
  }
}
