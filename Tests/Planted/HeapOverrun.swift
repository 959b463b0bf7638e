// A fault on purpose: one byte behind the end, as a reader that miscounts would write it.

let count = 16 * CommandLine.arguments.count
let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
memory.initializeMemory(as: UInt8.self, repeating: 0)
memory.baseAddress?.storeBytes(of: 1, toByteOffset: count, as: UInt8.self)
print(memory.count)
memory.deallocate()
