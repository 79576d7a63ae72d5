import Foundation

// The least that a Swift program with Foundation does: what it takes longer than this is the program's own.
print(String(format: "Hello, %@", ProcessInfo.processInfo.processName))
