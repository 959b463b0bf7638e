// A planted fault: memory is read after it is freed. The address sanitizer must report it, or its silence about the
// tests means nothing.

let memory = UnsafeMutablePointer<Int>.allocate(capacity: 8)
memory.initialize(repeating: CommandLine.arguments.count, count: 8)
memory.deallocate()
print(memory[3])
