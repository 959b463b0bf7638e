import FormStreamBatch
import FormStreamMediaTypes
import FormStreamMultipart

/// The checked arguments of `plan`.
struct ManifestPlan {
  let sources: [BatchSource]
  let listing: ListingOptions
  let isSorted: Bool
  /// What detects the types; nil if the manifest has none.
  let sniffer: MediaTypeSniffer?
  let hasDigests: Bool
  let output: OutputTarget
}

extension LowArguments {
  func manifestPlan() throws(Failure) -> ManifestPlan {
    if operands.isEmpty, pathLists.isEmpty {
      throw .usage(
        "Name the files or directories, or a list of them with --files-from or --files-from0.")
    }
    if let dash = operands.first(where: \.isDash) {
      throw .usage(
        "\(dash.named("A path")) is -, and plan reads only lists from standard input: --files-from -, or ./- for a "
          + "file of that name.")
    }
    if !listing.detectsTypes, areTypeFlagsGiven {
      throw .usage("--sniff, --type-for, --charset and --magic-file are for --with-type: add it.")
    }
    return ManifestPlan(
      sources: operands.map { .path($0.path) } + (try listSources()),
      listing: try listingOptions(), isSorted: listing.sorts,
      sniffer: listing.detectsTypes ? sniffer() : nil, hasDigests: listing.computesDigests,
      output: try outputTarget() ?? .standardOutput)
  }

  private var areTypeFlagsGiven: Bool {
    sniffing != .auto || !typeOverrides.isEmpty || detectsCharset || magicFile != nil
  }
}
