// What the adapters take from IOKit, on the Mac and in Catalyst, declared without an implementation.

public import Foundation

public typealias io_iterator_t = UInt32
public typealias io_service_t = UInt32
public typealias IOOptionBits = UInt32

public let kIOMainPortDefault = UInt32(), KERN_SUCCESS = Int32(), kIOServicePlane = ""
public let kIORegistryIterateRecursively = 1, kIORegistryIterateParents = 2
public var kCFAllocatorDefault: CFTypeRef? { nil }

public func IOBSDNameMatching(_ port: UInt32, _ options: UInt32, _ name: String) -> CFDictionary? { fatalError() }
public func IOServiceGetMatchingServices(
    _ port: UInt32, _ matching: CFDictionary?, _ iterator: UnsafeMutablePointer<io_iterator_t>
) -> Int32 { 0 }
public func IOIteratorNext(_ iterator: io_iterator_t) -> io_service_t { 0 }
@discardableResult public func IOObjectRelease(_ object: UInt32) -> Int32 { 0 }
public func IORegistryEntrySearchCFProperty(
    _ entry: io_service_t, _ plane: String, _ key: CFString, _ allocator: CFTypeRef?, _ options: UInt32
) -> CFTypeRef? { nil }
