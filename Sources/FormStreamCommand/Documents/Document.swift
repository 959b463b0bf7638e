/// A document about the command, made from the declarations of its flags.
enum Document: String, CaseIterable {
  case man
  case bash
  case zsh
  case fish

  var text: String {
    switch self {
    case .man: Self.manPage
    case .bash: Self.bashCompletions
    case .zsh: Self.zshCompletions
    case .fish: Self.fishCompletions
    }
  }
}
