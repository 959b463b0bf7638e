extension Document {
  static var zshCompletions: String {
    let verbs = firstWords.map { word, summary in
      "    \("\(word):\(summary.escaping(":", with: "\\"))".shellQuoted)\n"
    }
    let cases = Verb.allCases.map { verb in
      let action = verb.sends ? "_formstream_operand" : "_files"
      let operands = verb.operand == nil ? "" : " \\\n        '*:file:\(action)'"
      return
        "    \(verb.rawValue)) _arguments -s \(lines(for: verb))\(operands) ;;\n"
    }
    return """
      #compdef formstream
      _formstream_verbs() {
        local -a verbs=(
      \(verbs.joined())  )
        _describe command verbs
      }
      _formstream_named() { compset -P '*=' && _files }
      _formstream_form() { compset -P '*=[@<]' && _files }
      _formstream_data() { compset -P '[A-Za-z0-9_.-]#@' && _files }
      _formstream_operand() { compset -P '@'; _files }
      _formstream() {
        setopt localoptions extendedglob
        local curcontext=$curcontext state
        local -a line
        _arguments -C -s \(lines(for: nil)) \\
          '1:command:_formstream_verbs' '*::word:->words'
        [[ $state == words ]] || return
        case $line[1] in
          help) _formstream_verbs ;;
      \(cases.joined())  esac
      }
      if [ "$funcstack[1]" = _formstream ]; then _formstream "$@"; else compdef _formstream formstream; fi

      """
  }

  private static func lines(for verb: Verb?) -> String {
    Flag.known(to: verb).flatMap { flag in
      let summary = flag.summary(for: verb).escaping("[]:", with: "\\")
      let action = flag.value.map {
        "\($0.isOptional ? "::" : ":")\($0.placeholder.escaping(":", with: "\\")):\(zshAction($0.completion))"
      }
      return flag.spellings.map { spelling in
        // A value may follow a short flag directly, and a long flag after "=".
        let mark =
          flag.value.map { $0.isOptional ? "=-" : spelling.hasPrefix("--") ? "=" : "+" } ?? ""
        return " \\\n        \("*\(spelling)\(mark)[\(summary)]\(action ?? "")".shellQuoted)"
      }
    }
    .joined()
  }

  private static func zshAction(_ completion: Flag.Value.Completion) -> String {
    switch completion {
    case .none: ""
    case .path: "_files"
    case .directory: "_path_files -/"
    case .namedPath: "_formstream_named"
    case .formPath: "_formstream_form"
    case .dataPath: "_formstream_data"
    case .choices(let choices): "(\(choices.joined(separator: " ")))"
    }
  }
}
