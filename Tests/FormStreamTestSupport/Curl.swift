/// Runs curl, quietly, without a configuration of the user's.
public func curl(_ arguments: String...) throws -> Invocation { try curl(arguments) }

/// The same with arguments in a list.
public func curl(_ arguments: [String]) throws -> Invocation {
  try run(program: "/usr/bin/env", ["curl", "-q", "-sS"] + arguments)
}
