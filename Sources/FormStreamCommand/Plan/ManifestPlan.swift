import FormStreamBatch
import FormStreamMultipart

/// The checked arguments of `plan`.
struct ManifestPlan {
  let sources: [BatchSource]
  let listing: ListingOptions
  let isSorted: Bool
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
    return ManifestPlan(
      sources: operands.map { .path($0.path) } + (try listSources()),
      listing: try listingOptions(), isSorted: listing.sorts,
      output: try outputTarget() ?? .standardOutput)
  }
}
