/// Runs curl without progress output and without the user's configuration.
public func curl(_ arguments: String...) throws -> Invocation { try curl(arguments) }

/// Runs curl with a list of arguments.
public func curl(_ arguments: [String]) throws -> Invocation {
  try run(program: "/usr/bin/env", ["curl", "-q", "-sS"] + arguments)
}
