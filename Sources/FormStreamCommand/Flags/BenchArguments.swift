/// The typed flags of `bench`.
struct BenchArguments {
  var sizes: [Int64]?
  var file: Argument?
  var count = 1
  var rounds = 5
  /// The names of the programs to compare with.
  var programs: [Argument] = []
  var plot: Argument?
}
