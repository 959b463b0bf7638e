/// A document about the command, made from the declarations of its flags.
enum Document: String, CaseIterable {
  case man
  case bash
  case zsh
  case fish

  /// - Parameter verb: the command whose page of the manual is meant; nil for the main page. Completions are for all
  ///   commands.
  func text(for verb: Verb?) -> String {
    switch self {
    case .man: Self.manPage(of: verb)
    case .bash: Self.bashCompletions
    case .zsh: Self.zshCompletions
    case .fish: Self.fishCompletions
    }
  }
}
