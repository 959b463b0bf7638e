extension Document {
  static var fishCompletions: String {
    var text = """
      # fish completion for formstream
      function __formstream_verb
        for word in (commandline -opc)[2..-1]
          if contains -- $word \(verbNames)
            echo $word
            return
          end
        end
        return 1
      end
      function __formstream_has_verb
        set -l verb (__formstream_verb)
        and contains -- $verb $argv
      end
      # The word with a path at its end: the path follows the first match of the expression.
      function __formstream_paths
        set -l value (commandline -ct | string replace -r '^(--[^=]*=|-[^-])' '')
        set -l head (string match -r -- $argv[1] $value)
        or return
        set -l path (string sub -s (math 1 + (string length -- $head[1])) -- $value)
        # Behind an opening quote, nothing is escaped yet.
        if string match -q -r -- '^["\\']' $value
          set path (string escape -n -- $path)
        end
        for found in (complete -C "'' $path" | string replace -r '\\t.*' '')
          echo $head[1]$found\\t
        end
      end
      function __formstream_directories
        __fish_complete_directories (commandline -ct | string replace -r '^(--[^=]*=|-[^-])' '')
      end
      complete -c formstream -f

      """
    for (word, summary) in firstWords {
      text +=
        "complete -c formstream -n 'not __formstream_verb >/dev/null' -a \(word) -d \(summary.fishQuoted)\n"
    }
    text +=
      "complete -c formstream -n '__formstream_has_verb \(operandVerbs.joined(separator: " "))' -F\n"
    text +=
      "complete -c formstream -n '__formstream_has_verb \(bodyVerbs.joined(separator: " "))' -a '(__formstream_paths \"^@\")'\n"
    for flag in Flag.all { text += lines(of: flag) }
    return text
  }

  /// A line for each summary of the flag, with the commands that have this summary.
  private static func lines(of flag: Flag) -> String {
    var texts: [(summary: String, verbs: [String])] = flag.verbs.isEmpty ? [(flag.summary, [])] : []
    for verb in flag.verbs {
      let summary = flag.summary(for: verb)
      if let place = texts.firstIndex(where: { $0.summary == summary }) {
        texts[place].verbs.append(verb.rawValue)
      } else {
        texts.append((summary, [verb.rawValue]))
      }
    }
    let name = " -l \(flag.long)" + (flag.short.map { " -s \($0)" } ?? "")
    let value = flag.value.map { $0.isOptional ? "" : fishValue($0.completion) } ?? ""
    return texts.map { summary, verbs in
      let condition =
        verbs.isEmpty ? "" : " -n '__formstream_has_verb \(verbs.joined(separator: " "))'"
      return "complete -c formstream\(condition)\(name)\(value) -d \(summary.fishQuoted)\n"
    }
    .joined()
  }

  private static func fishValue(_ completion: Flag.Value.Completion) -> String {
    switch completion {
    case .none: " -x"
    case .path: " -r -F"
    case .directory: " -x -a '(__formstream_directories)'"
    case .namedPath: " -x -a '(__formstream_paths \"^[^=]*=\")'"
    case .formPath: " -x -a '(__formstream_paths \"^[^=]*=[@<]\")'"
    case .dataPath: " -x -a '(__formstream_paths \"^[A-Za-z0-9_.-]*@\")'"
    case .choices(let choices): " -x -a \(choices.joined(separator: " ").fishQuoted)"
    }
  }
}
