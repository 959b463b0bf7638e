// A planted fault: a write one byte after the end, as by a reader that miscounts.

let count = 16 * CommandLine.arguments.count
let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
memory.initializeMemory(as: UInt8.self, repeating: 0)
memory.baseAddress?.storeBytes(of: 1, toByteOffset: count, as: UInt8.self)
print(memory.count)
memory.deallocate()
