extension Document {
  /// The commands that take operands.
  private static var operandVerbs: [String] {
    Verb.allCases.filter { $0.operand != nil }.map(\.rawValue)
  }

  static var bashCompletions: String {
    var cases = ""
    for flag in Flag.allNames {
      guard let value = flag.value else { continue }
      let names = ["--\(flag.long)"] + (flag.short.map { ["-\($0)"] } ?? [])
      let reply =
        switch value.completion {
        case .path, .namedPath: "compopt -o default"
        // For readline, the @ is part of the word that is completed; for bash, it is not.
        case .formPath:
          "local IFS=$'\\n'; [[ $mark == =@ ]] && COMPREPLY=($(compgen -f -P @ -- \"$word\")); "
            + "[[ $mark == '=<' ]] && compopt -o default"
        case .choices(let choices):
          "COMPREPLY=($(compgen -W '\(choices.joined(separator: " "))' -- \"$word\"))"
        case .none: ":"
        }
      cases += "    \(names.joined(separator: "|"))) \(reply); return ;;\n"
    }
    // Readline splits words at "=", "@" and "<": "--file photo=sun" arrives as four words.
    return """
      # bash completion for formstream
      _formstream() {
        local word="${COMP_WORDS[COMP_CWORD]}" at=$((COMP_CWORD - 1)) mark=''
        COMPREPLY=()
        case "$word" in =|=@|=\\<) mark="$word" word='' at=$COMP_CWORD ;; esac
        case "${COMP_WORDS[at]}" in
          =|=@|=\\<) mark="${COMP_WORDS[at]}" at=$((at - 1))
            [[ "${COMP_WORDS[at]}" == -* ]] || at=$((at - 1)) ;;
        esac
        case "${COMP_WORDS[at]}" in
      \(cases)  esac
        if [[ "$word" == -* ]]; then
          COMPREPLY=($(compgen -W '\(Flag.allNames.map { "--\($0.long)" }.joined(separator: " "))' -- "$word"))
        elif [[ $COMP_CWORD -eq 1 ]]; then
          COMPREPLY=($(compgen -W '\(Verb.allCases.map(\.rawValue).joined(separator: " "))' -- "$word"))
        else
          case "${COMP_WORDS[1]}" in \(operandVerbs.joined(separator: "|"))) compopt -o default ;; esac
        fi
      }
      complete -F _formstream formstream

      """
  }

  static var zshCompletions: String {
    var lines = ""
    for flag in Flag.allNames {
      let summary = flag.summary.escaping("[]:", with: "\\")
      var action = ""
      if let value = flag.value {
        action = ":\(value.placeholder.escaping(":", with: "\\")):"
        switch value.completion {
        case .path: action += "_files"
        case .namedPath: action += "_formstream_named"
        case .formPath: action += "_formstream_form"
        case .choices(let choices): action += "(\(choices.joined(separator: " ")))"
        case .none: break
        }
      }
      let isLong = flag.value == nil ? "" : "="
      lines += "    \("*--\(flag.long)\(isLong)[\(summary)]\(action)".shellQuoted) \\\n"
      guard let short = flag.short else { continue }
      lines += "    \("*-\(short)[\(summary)]\(action)".shellQuoted) \\\n"
    }
    return """
      #compdef formstream
      _formstream_named() { compset -P '*=' && _files }
      _formstream_form() { compset -P '*=[@<]' && _files }
      _formstream() {
        _arguments -s \\
      \(lines)    '1:command:(\(Verb.allCases.map(\.rawValue).joined(separator: " ")))' \\
          '*:file:_files'
      }
      if [ "$funcstack[1]" = _formstream ]; then _formstream "$@"; else compdef _formstream formstream; fi

      """
  }

  static var fishCompletions: String {
    var text = "# fish completion for formstream\ncomplete -c formstream -f\n"
    for verb in Verb.allCases {
      text +=
        "complete -c formstream -n __fish_use_subcommand -a \(verb.rawValue) "
        + "-d \(verb.summary.fishQuoted)\n"
    }
    text +=
      "complete -c formstream -n '__fish_seen_subcommand_from \(operandVerbs.joined(separator: " "))' -F\n"
    for flag in Flag.allNames {
      text += "complete -c formstream -l \(flag.long)"
      if let short = flag.short { text += " -s \(short)" }
      switch flag.value?.completion {
      case .path, .namedPath, .formPath: text += " -r -F"
      case .choices(let choices): text += " -x -a \(choices.joined(separator: " ").fishQuoted)"
      case .some(.none): text += " -x"
      case nil: break
      }
      text += " -d \(flag.summary.fishQuoted)\n"
    }
    return text
  }
}

extension String {
  /// This text in single quotes, for sh, bash and zsh.
  fileprivate var shellQuoted: String {
    "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }

  /// This text in single quotes, for fish.
  fileprivate var fishQuoted: String {
    "'" + escaping("\\'", with: "\\") + "'"
  }

  fileprivate func escaping(_ characters: String, with mark: Character) -> String {
    reduce(into: "") { result, character in
      if characters.contains(character) { result.append(mark) }
      result.append(character)
    }
  }
}
