/// The arguments for listing files: which files are listed, in what order, and with what details.
struct ListingArguments {
  var includes: [Argument] = []
  var excludes: [Argument] = []
  var includesHidden = false
  var followsLinks = false
  var keepsGoing = false
  var sorts = false
  var detectsTypes = false
  var computesDigests = false
  /// The directories of journals, and the manifests, that a new manifest is compared with.
  var earlier: [Argument] = []

  /// Whether a flag chooses the files to list.
  var choosesFiles: Bool {
    !includes.isEmpty || !excludes.isEmpty || includesHidden || keepsGoing
  }
}

/// The arguments for a manifest and its shards.
struct ManifestArguments {
  var manifest: Argument?
  var shard: Argument?
  var shardCount: Int?
  var shardBase: Int?
  var failed: Argument?
  var page: Argument?
  var settlesDoubts = false
  var listsFailures = false
  var listsAccepted = false
  var listsDeletable = false
}
