/// What is done with files before the first of them is sent.
package enum BatchPreparation: Hashable, Sendable {
  /// What earlier rounds say about their files is read.
  case reading
  /// Old rounds are summed up, so that later runs read one file instead of theirs.
  case summingUp
  /// The files of a new round are listed.
  case listing
  /// The files are compared with those of earlier rounds; about so many are compared.
  case comparing(Int)
  /// The URLs of the files are compared with each other.
  case comparingURLs

  /// Receives what is done, once for each file.
  package typealias Observer = (BatchPreparation) -> Void
}
