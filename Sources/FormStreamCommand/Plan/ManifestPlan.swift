import FormStreamBatch
import FormStreamMediaTypes
import FormStreamMultipart

/// The checked arguments of `plan`.
struct ManifestPlan {
  let sources: [BatchSource]
  let listing: ListingOptions
  let isSorted: Bool
  /// Detects the types of the files; nil if the manifest has no types.
  let sniffer: MediaTypeSniffer?
  let hasDigests: Bool
  /// The directories of the journals that the files are compared with, and the manifests of these journals that are named.
  let journals: [LocalPath]
  let manifests: [LocalPath]
  let comparison: RoundRules
  let output: OutputTarget
  let isQuiet: Bool
}

extension ManifestPlan {
  init(_ arguments: LowArguments) throws(Failure) {
    if arguments.operands.isEmpty, arguments.pathLists.isEmpty {
      throw .usage(
        "Name the files or directories, or a list of them with --files-from or --files-from0.")
    }
    if let dash = arguments.operands.first(where: \.isDash) {
      throw .usage(
        "\(dash.named("A path")) is -, and plan reads only lists from standard input: --files-from -, or ./- for a "
          + "file of that name.")
    }
    if !arguments.listing.detectsTypes, Self.areTypeFlagsGiven(in: arguments) {
      throw .usage("--sniff, --type-for, --charset and --magic-file are for --with-type: add it.")
    }
    sources = arguments.operands.map { .path($0.path) } + (try arguments.pathLists.sources())
    var listing = try ListingOptions(arguments.listing, arguments.manifest)
    if let least = arguments.sending.minimumFiles { listing.minimumFiles = least }
    self.listing = listing
    isSorted = arguments.listing.sorts
    sniffer = arguments.listing.detectsTypes ? MediaTypeSniffer(arguments.types) : nil
    hasDigests = arguments.listing.computesDigests
    isQuiet = arguments.request.isQuiet
    let earlier = arguments.listing.earlier.map(\.path)
    let isDirectory = { (path: LocalPath) in
      (try? FileStatus(of: path, followsSymlinks: true))?.kind == .directory
    }
    journals = earlier.filter(isDirectory)
    manifests = earlier.filter { !isDirectory($0) }
    var comparison = RoundRules()
    comparison.comparesContents = arguments.sending.comparesContents
    self.comparison = comparison
    if comparison.comparesContents, earlier.isEmpty {
      throw .usage("--checksum compares with what journals say: add --against DIR.")
    }
    output =
      try arguments.output.map { (file) throws(Failure) in try OutputTarget(file) }
      ?? .standardOutput
  }

  private static func areTypeFlagsGiven(in arguments: LowArguments) -> Bool {
    arguments.types.policy != .auto || !arguments.types.overrides.isEmpty
      || arguments.types.detectsCharset
      || arguments.types.magicFile != nil
  }
}
