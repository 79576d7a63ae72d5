// What the adapters take from IOKit, on the Mac and in Catalyst, declared without an implementation.

public import Foundation

public typealias io_iterator_t = UInt32
public typealias io_service_t = UInt32
public typealias mach_port_t = UInt32
public typealias IOOptionBits = UInt32

public var kIOMainPortDefault: mach_port_t { 0 }
public var KERN_SUCCESS: Int32 { 0 }
public var kIOServicePlane: String { fatalError() }
public var kCFAllocatorDefault: CFTypeRef? { nil }
public var kIORegistryIterateRecursively: Int { 1 }
public var kIORegistryIterateParents: Int { 2 }

public func IOBSDNameMatching(_ port: mach_port_t, _ options: UInt32, _ name: String) -> CFDictionary? { fatalError() }
public func IOServiceGetMatchingServices(
    _ port: mach_port_t, _ matching: CFDictionary?, _ iterator: UnsafeMutablePointer<io_iterator_t>
) -> Int32 { 0 }
public func IOIteratorNext(_ iterator: io_iterator_t) -> io_service_t { 0 }
@discardableResult
public func IOObjectRelease(_ object: UInt32) -> Int32 { 0 }
public func IORegistryEntrySearchCFProperty(
    _ entry: io_service_t, _ plane: String, _ key: CFString, _ allocator: CFTypeRef?, _ options: IOOptionBits
) -> CFTypeRef? { nil }
