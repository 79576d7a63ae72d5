// The functions of the C library that the kit calls, declared without an implementation, for
// dev/availability/compiler.py.

public let O_RDONLY = Int32(), O_WRONLY = Int32(), O_CREAT = Int32(), O_TRUNC = Int32(), O_CLOEXEC = Int32()
public let F_FULLFSYNC = Int32(), ENOENT = Int32()
public var errno: Int32 { 0 }

@discardableResult public func open(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: UInt16 = 0) -> Int32 { 0 }
@discardableResult public func close(_ descriptor: Int32) -> Int32 { 0 }
@discardableResult public func fsync(_ descriptor: Int32) -> Int32 { 0 }
@discardableResult public func fcntl(_ descriptor: Int32, _ command: Int32, _ value: Int32 = 0) -> Int32 { 0 }
@discardableResult public func rename(_ from: UnsafePointer<CChar>, _ to: UnsafePointer<CChar>) -> Int32 { 0 }
@discardableResult public func unlink(_ path: UnsafePointer<CChar>) -> Int32 { 0 }
@discardableResult public func write(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int { 0 }
public func strerror(_ error: Int32) -> UnsafeMutablePointer<CChar>! { nil }
