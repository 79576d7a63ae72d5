// What the libraries take from Foundation, declared without an implementation, for dev/check-availability.py. All of it is older
// than iOS 15 and macOS 12; nothing here is ever run.

public struct Date: Sendable, Hashable, Comparable {
    public init() {}
    public init(timeIntervalSince1970: Double) {}
    public var timeIntervalSince1970: Double { fatalError() }
    public static func < (left: Date, right: Date) -> Bool { fatalError() }
}

public struct UUID: Sendable, Hashable {
    // swift-format-ignore
    public var uuid: (
        UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8
    ) { fatalError() }
    public static func == (left: UUID, right: UUID) -> Bool { fatalError() }
    public func hash(into hasher: inout Hasher) {}
}

public struct Data: Sendable, Sequence {
    public init() {}
    public init(_ bytes: [UInt8]) {}
    public init?(base64Encoded: String) {}
    public func base64EncodedString() -> String { fatalError() }
    public func makeIterator() -> IndexingIterator<[UInt8]> { fatalError() }
}

public final class JSONDecoder: Sendable {
    public init() {}
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value { fatalError() }
}

public struct CocoaError: Error {
    public struct Code: Sendable { public static var coderReadCorrupt: Code { fatalError() } }
    public init(_ code: Code) {}
}

public struct TimeZone: Sendable {
    public init?(identifier: String) {}
    public func secondsFromGMT(for date: Date) -> Int { fatalError() }
    public func nextDaylightSavingTimeTransition(after date: Date) -> Date? { fatalError() }
}

open class NSLock {
    public init() {}
    public func lock() {}
    public func unlock() {}
}

open class JSONSerialization {
    public static func jsonObject(with data: Data) throws -> Any { fatalError() }
}

open class NSNumber {
    public var doubleValue: Double { fatalError() }
    public var objCType: UnsafePointer<CChar> { fatalError() }
}

open class NSNull {}
