import Foundation

// A minimal Swift program with Foundation: any time beyond this is the program's own.
print(String(format: "Hello, %@", ProcessInfo.processInfo.processName))
