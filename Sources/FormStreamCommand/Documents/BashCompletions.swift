extension Document {
  /// Readline and bash split words at the characters of COMP_WORDBREAKS, such as `=` and `@`, and programs such as
  /// bash-completion change that list. So the script joins the pieces to the words of the command line. Readline
  /// replaces only the last piece of a word, so each reply leaves out the text before that piece.
  static var bashCompletions: String {
    """
    # bash completion for formstream
    _formstream_flags() {
      case "$1" in
    \(flagLines)  esac
    }
    # Sets kind to how the value of a flag is completed: empty if the flag has no value, or is unknown.
    _formstream_kind() {
      kind='' choices=''
      case "$verb:$1" in
    \(kindLines)  esac
    }
    # Completes the end of a word. $1 is the part that is typed already. The choices are the lines of standard input.
    _formstream_reply() {
      local head=${word%"$1"} left masked=${word//\\\\?/xx} choice
      case "$word" in
        *[\\"\\']*) left=${word%"${word##*[\\"\\']}"} ;;
        *)
          left=${masked%"${masked##*[$COMP_WORDBREAKS]}"}
          # For readline, an @ belongs to what follows it.
          left=${left%@} left=${word:0:${#left}} ;;
      esac
      while IFS= read -r choice; do
        choice=$head$choice
        COMPREPLY+=("${choice#"$left"}")
      done
    }
    # Completes the path at the end of a word. $1 is the part of the path that is typed already. If $2 is -d, only
    # directories are completed.
    _formstream_path() {
      local path=${1#[\\"\\']} plain found
      plain=$path
      [[ $word == *[\\"\\']* ]] || plain=${path//\\\\/}
      _formstream_reply "$path" < <(
        compgen "${2:--f}" -- "$plain" | while IFS= read -r found; do
          [[ -d $found ]] && found+=/
          [[ $word == *[\\"\\']* ]] || printf -v found %q "$found"
          printf '%s\\n' "$found"
        done
      )
      [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]] && compopt -o nospace
    }
    _formstream() {
      local words=() word verb='' kind choices value i rest=$COMP_LINE trimmed
      COMPREPLY=()
      for ((i = 0; i <= COMP_CWORD; i++)); do
        trimmed=${rest#"${rest%%[![:blank:]]*}"}
        if ((i == 0)) || [[ $trimmed != "$rest" ]]; then
          words+=("${COMP_WORDS[i]}")
        else
          words[-1]+=${COMP_WORDS[i]}
        fi
        rest=${trimmed#"${COMP_WORDS[i]}"}
      done
      word=${words[-1]}
      for ((i = 1; i < ${#words[@]} - 1; i++)); do
        case " \(verbNames) " in *" ${words[i]} "*) verb=${words[i]}; break ;; esac
      done
      value=$word
      _formstream_kind "${words[-2]}"
      if [[ -z $kind && $word == --*=* ]]; then
        value=${word#*=}
        _formstream_kind "${word%%=*}"
      elif [[ -z $kind && $word == -[!-]?* ]]; then
        value=${word:2}
        _formstream_kind "${word:0:2}"
      fi
      case "$kind" in
        none) ;;
        path)
          # Readline may take a flag and its value for one word.
          if [[ $value == "$word" ]]; then compopt -o default; else _formstream_path "$value"; fi ;;
        directory)
          if [[ $value == "$word" ]]; then
            compopt -o dirnames
          else
            _formstream_path "$value" -d
          fi ;;
        named) [[ $value == *=* ]] && _formstream_path "${value#*=}" ;;
        form) [[ $value == *=[@\\<]* ]] && _formstream_path "${value#*=[@<]}" ;;
        data) [[ $value =~ ^[\\"\\']?[A-Za-z0-9_.-]*@ ]] && _formstream_path "${value#*@}" ;;
        choices) _formstream_reply "$value" < <(compgen -W "$choices" -- "$value") ;;
        *)
          if [[ $word == -* ]]; then
            COMPREPLY=($(compgen -W "$(_formstream_flags "$verb")" -- "$word"))
          elif [[ -z $verb ]]; then
            COMPREPLY=($(compgen -W '\(firstWords.map(\.word).joined(separator: " "))' -- "$word"))
          else
            case "$verb:$word" in
              \(bodyVerbs.map { "\($0):@*" }.joined(separator: "|"))) _formstream_path "${word#@}" ;;
              \(operandVerbs.map { "\($0):*" }.joined(separator: "|"))) compopt -o default ;;
            esac
          fi ;;
      esac
    }
    complete -F _formstream formstream

    """
  }

  private static var flagLines: String {
    (Verb.allCases.map(Optional.some) + [nil]).map { verb in
      let flags = Flag.known(to: verb).map { "--\($0.long)" }.joined(separator: " ")
      return "    \(verb?.rawValue ?? "*")) echo '\(flags)' ;;\n"
    }
    .joined()
  }

  /// One line for each way to complete a value.
  private static var kindLines: String {
    var patterns: [(kind: String, names: [String])] = []
    for flag in Flag.all {
      guard let value = flag.value, !value.isOptional else { continue }
      let kind = bashKind(value.completion)
      // Two flags of one name belong to different commands.
      let isOnly = Flag.all.count { $0.long == flag.long } == 1
      let verbs = isOnly ? ["*"] : flag.verbs.map(\.rawValue)
      let names = verbs.flatMap { verb in flag.spellings.map { "\(verb):\($0)" } }
      if let place = patterns.firstIndex(where: { $0.kind == kind }) {
        patterns[place].names += names
      } else {
        patterns.append((kind, names))
      }
    }
    return patterns.map { "    \($0.names.joined(separator: "|"))) \($0.kind) ;;\n" }.joined()
  }

  private static func bashKind(_ completion: Flag.Value.Completion) -> String {
    switch completion {
    case .none: "kind=none"
    case .path: "kind=path"
    case .directory: "kind=directory"
    case .namedPath: "kind=named"
    case .formPath: "kind=form"
    case .dataPath: "kind=data"
    case .choices(let choices): "kind=choices choices='\(choices.joined(separator: " "))'"
    }
  }
}
