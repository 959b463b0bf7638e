/// The flags that choose files in directories and lists, and the flags about the manifest that `plan` makes.
extension Flag {
  private static let listingVerbs: [Verb] = [.send, .plan]

  static let listingFlags = [
    Flag(
      long: "include", value: Value(placeholder: "GLOB"), group: .paths, verbs: listingVerbs,
      summary: "List only files that match GLOB; can be repeated",
      detail: """
        * and ? match within a name, ** across directories, and [a-z] one of a set; a backslash takes their meaning \
        away. A pattern without a slash is for the last component, one with a slash for the path below the directory \
        that was named: 'a/*.txt', '**/a/b', '/a'. A slash at the end matches directories only. Files that are named on \
        the command line are always meant.
        """
    ) { (arguments, argument) in arguments.listing.includes.append(argument) },
    Flag(
      long: "exclude", value: Value(placeholder: "GLOB"), group: .paths, verbs: listingVerbs,
      summary: "Leave out files and directories that match GLOB; can be repeated",
      detail: "Patterns are written as for --include. --exclude has precedence over --include."
    ) { (arguments, argument) in arguments.listing.excludes.append(argument) },
    Flag(
      long: "hidden", group: .paths, verbs: listingVerbs,
      summary: "List files and directories whose names begin with a dot, too"
    ) { (arguments, _) in arguments.listing.includesHidden = true },
    Flag(
      long: "follow-symlinks", group: .paths, verbs: listingVerbs,
      summary: "Follow links in directories and lists, but never out of the directory",
      detail: """
        Without it, links in directories are left out, and a link in a list can't be sent. A file or a directory that \
        is named on the command line may be a link in any case. An absolute path of a manifest may name a link only with \
        this flag; below the root of a manifest, links that stay there are followed anyway.
        """
    ) { (arguments, _) in arguments.listing.followsLinks = true },
    Flag(
      long: "keep-going", group: .paths, verbs: listingVerbs,
      summary: "Go on if a file on the command line is missing or unreadable",
      detail: """
        Otherwise nothing is done, and the exit code is 66. A file of a list or directory that is missing does not keep \
        the others from being sent in any case.
        """
    ) { (arguments, _) in arguments.listing.keepsGoing = true },
    Flag(
      long: "sort", group: .paths, verbs: [.plan],
      summary: "Sort the manifest by path, on disk if it does not fit into memory",
      detail: "The bytes of paths are compared. Large manifests are sorted in TMPDIR, or in /tmp."
    ) { (arguments, _) in arguments.listing.sorts = true },
    Flag(
      long: "with-type", group: .paths, verbs: [.plan],
      summary: "Detect the type of each file, and write it into the manifest",
      detail: "A run of the manifest then sends these types, and detects none."
    ) { (arguments, _) in arguments.listing.detectsTypes = true },
    Flag(
      long: "with-sha256", group: .paths, verbs: [.plan],
      summary: "Write the SHA-256 of each file into the manifest",
      detail: """
        A run of the manifest reads each file before it sends it, and sends only those whose contents are still the same.
        """
    ) { (arguments, _) in arguments.listing.computesDigests = true },
    Flag(
      long: "against", value: Value(placeholder: "PATH", completion: .path), group: .paths,
      verbs: [.plan],
      summary: "List only what the journals in PATH don't prove sent; can be repeated",
      detail: """
        PATH is a directory with the journals of earlier runs. The manifest gets the files that are new, have changed, or were \
        not accepted: the next round for all shards. The manifests of the earlier runs are read, too; if one is not where the \
        runs found it, name it as another PATH. The files are sorted by their paths.
        """
    ) { (arguments, argument) in arguments.listing.earlier.append(argument) },
  ]
}
