// What the libraries take from Foundation, Core Foundation and Dispatch, declared without an implementation, for
// dev/availability/compiler.py. All of it is older than iOS 15, macOS 12, tvOS 15 and watchOS 8; nothing here is ever
// run. Toll-free bridging is left out: a type of Core Foundation is the type that it is bridged to. Properties are
// stored, and the compiler derives conformances, where Apple's are written out.

public typealias CFData = Data
public typealias CFString = String
public typealias CFDictionary = [String: Any]
public typealias CFTypeRef = Any

public protocol ContiguousBytes {
    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result
}

public protocol DataProtocol: RandomAccessCollection, ContiguousBytes where Element == UInt8 {}
extension Array: ContiguousBytes, DataProtocol where Element == UInt8 {}
extension ArraySlice: ContiguousBytes, DataProtocol where Element == UInt8 {}
extension UnsafeRawBufferPointer: ContiguousBytes, DataProtocol {}
extension UnsafeRawBufferPointer {
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
}

public struct Date: Sendable, Hashable, Comparable, Codable {
    public init() {}
    public init(timeIntervalSince1970: Double) {}
    public init(timeIntervalSinceNow: Double) {}
    public let timeIntervalSince1970, timeIntervalSinceNow: Double
    public static let distantPast = Date(), distantFuture = Date(), now = Date()
    public func timeIntervalSince(_ other: Date) -> Double { fatalError() }
    public func addingTimeInterval(_ seconds: Double) -> Date { fatalError() }
    public static func + (left: Date, right: Double) -> Date { fatalError() }
    public static func - (left: Date, right: Double) -> Date { fatalError() }
    public static func < (left: Date, right: Date) -> Bool { fatalError() }
    public struct ComponentsFormatStyle: Sendable {}
}

public struct UUID: Sendable, Hashable, Codable {
    // swift-format-ignore
    public typealias Bytes = (
        UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8
    )
    public init() {}
    public init(uuid: Bytes) {}
    public init?(uuidString: String) {}
    public var uuid: Bytes { fatalError() }
    public let uuidString: String
}

public struct Data: Sendable, Hashable, Codable, MutableCollection, RangeReplaceableCollection, DataProtocol {
    public struct WritingOptions: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) {}
        public static let atomic = Self(), completeFileProtectionUntilFirstUserAuthentication = Self()
    }

    public init() {}
    public init<Bytes: Sequence>(_ bytes: Bytes) where Bytes.Element == UInt8 {}
    public init(contentsOf url: URL) throws {}
    public init?(base64Encoded: String) {}
    public init?(base64Encoded: Data) {}
    public func base64EncodedString() -> String { fatalError() }
    public func write(to url: URL, options: WritingOptions = []) throws {}
    public let startIndex, endIndex: Int
    public func index(after index: Int) -> Int { fatalError() }
    public subscript(index: Int) -> UInt8 { get { fatalError() } set {} }
    public subscript(range: Range<Int>) -> Data { get { fatalError() } set {} }
    public mutating func replaceSubrange(_ range: Range<Int>, with bytes: some Collection<UInt8>) {}
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
}

public struct URL: Sendable, Hashable, Codable {
    public init(fileURLWithPath: String) {}
    public init?(string: String) {}
    public init?(string: String, relativeTo: URL?) {}
    public let path, absoluteString, lastPathComponent: String
    public func appendingPathComponent(_ component: String) -> URL { fatalError() }
    public func appendingPathExtension(_ name: String) -> URL { fatalError() }
    public func deletingLastPathComponent() -> URL { fatalError() }
    public mutating func setResourceValues(_ values: URLResourceValues) throws {}
}

public struct URLResourceValues {
    public init() {}
    public var isExcludedFromBackup: Bool?
}

public struct URLComponents: Sendable {
    public init?(url: URL, resolvingAgainstBaseURL: Bool) {}
    public init?(string: String) {}
    public var queryItems: [URLQueryItem]?
    public var path: String
    public let url: URL?
}

public struct URLQueryItem: Sendable { public init(name: String, value: String?) {} }

public struct Decimal: Sendable, Hashable, Codable, ExpressibleByIntegerLiteral {
    public init(integerLiteral: Int) {}
    public init?(string: String) {}
    public init(_ value: Int64) {}
    public init(_ value: Int) {}
    public static func / (left: Decimal, right: Decimal) -> Decimal { fatalError() }
    public static func * (left: Decimal, right: Decimal) -> Decimal { fatalError() }
    public struct FormatStyle: Sendable {
        public struct Currency: Sendable {
            public let currencyCode: String
            public func format(_ value: Decimal) -> String { fatalError() }
        }
    }
}

public enum DateStrategy: Sendable { case secondsSince1970, millisecondsSince1970, iso8601 }

public final class JSONDecoder {
    public enum KeyDecodingStrategy: Sendable { case convertFromSnakeCase }
    public var dateDecodingStrategy: DateStrategy
    public var keyDecodingStrategy: KeyDecodingStrategy
    public init() {}
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value { fatalError() }
}

public final class JSONEncoder {
    public struct OutputFormatting: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) {}
        public static let sortedKeys = Self(), withoutEscapingSlashes = Self()
    }
    public var outputFormatting: OutputFormatting
    public var dateEncodingStrategy: DateStrategy
    public init() {}
    public func encode(_ value: some Encodable) throws -> Data { fatalError() }
}

open class JSONSerialization {
    public static func jsonObject(with data: Data) throws -> Any { fatalError() }
    public static func data(withJSONObject: Any, options: JSONEncoder.OutputFormatting = []) throws -> Data {}
}

public struct CocoaError: Error {
    public enum Code: Sendable { case coderReadCorrupt }
    public init(_ code: Code) {}
}

public protocol LocalizedError: Error { var errorDescription: String? { get } }
extension LocalizedError { public var errorDescription: String? { nil } }
open class NSError: Error, @unchecked Sendable { public let domain = "", code = 0 }

public struct Calendar: Sendable {
    public enum Identifier: Sendable { case gregorian }
    public enum Component: Sendable { case year, month, weekOfYear, day }
    public init(identifier: Identifier) {}
    public var timeZone: TimeZone
    public func date(byAdding component: Component, value: Int, to date: Date) -> Date? { fatalError() }
}

public struct TimeZone: Sendable {
    public init?(identifier: String) {}
    public init?(secondsFromGMT seconds: Int) {}
    public func secondsFromGMT(for date: Date) -> Int { fatalError() }
    public func nextDaylightSavingTimeTransition(after date: Date) -> Date? { fatalError() }
}

public protocol NSObjectProtocol: AnyObject {}

open class NSObject: NSObjectProtocol, Hashable {
    public init() {}
    public static func == (left: NSObject, right: NSObject) -> Bool { fatalError() }
    public func hash(into hasher: inout Hasher) {}
}

open class NSLock: @unchecked Sendable {
    public init() {}
    public func lock() {}
    public func unlock() {}
    public func withLock<Result>(_ body: () throws -> Result) rethrows -> Result { fatalError() }
}

open class NSNumber: NSObject {
    public init(value: Int64) {}
    public init(value: Bool) {}
    public let doubleValue = 0.0, int64Value = Int64(), boolValue = false
    public var objCType: UnsafePointer<CChar> { fatalError() }
}

open class NSNull {}
public struct Notification { public struct Name: Sendable, Hashable { public init(_ name: String) {} } }
open class OperationQueue { public static var main: OperationQueue { fatalError() } }

open class NotificationCenter: @unchecked Sendable {
    public static var `default`: NotificationCenter { fatalError() }
    public struct Notifications: AsyncSequence, Sendable {
        public typealias Element = Notification
        public struct AsyncIterator: AsyncIteratorProtocol {
            public mutating func next() async -> Notification? { nil }
        }
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
    }
    public func notifications(named: Notification.Name, object: (any AnyObject & Sendable)? = nil) -> Notifications {
        fatalError()
    }
}

open class ProcessInfo: @unchecked Sendable {
    public static var processInfo: ProcessInfo { fatalError() }
    public let systemUptime = 0.0, environment = ["": ""]
    #if !os(macOS)
        public func performExpiringActivity(withReason: String, using block: @escaping @Sendable (Bool) -> Void) {}
    #endif
}

open class Bundle: @unchecked Sendable {
    public static var main: Bundle { fatalError() }
    @available(watchOS 7.0, *)
    public var appStoreReceiptURL: URL? { fatalError() }
    public func object(forInfoDictionaryKey key: String) -> Any? { fatalError() }
    public func localizedString(forKey key: String, value: String?, table: String?) -> String { fatalError() }
}

public enum FileAttributeKey: Sendable { case protectionKey, size }
public enum FileProtectionType: Sendable { case completeUntilFirstUserAuthentication }

open class FileManager: @unchecked Sendable {
    public static var `default`: FileManager { fatalError() }
    public func fileExists(atPath path: String) -> Bool { fatalError() }
    public func createDirectory(at url: URL, withIntermediateDirectories: Bool) throws {}
    public func setAttributes(_ attributes: [FileAttributeKey: Any], ofItemAtPath path: String) throws {}
    public func containerURL(forSecurityApplicationGroupIdentifier group: String) -> URL? { fatalError() }
}

open class FileHandle: @unchecked Sendable {
    public init(fileDescriptor: Int32, closeOnDealloc: Bool) {}
    public func read(upToCount count: Int) throws -> Data? { fatalError() }
    public func write(contentsOf data: Data) throws { fatalError() }
    public func close() throws { fatalError() }
}

open class DispatchQueue: @unchecked Sendable {
    public init(label: String) {}
    public static var main: DispatchQueue { fatalError() }
}

open class DispatchSemaphore: @unchecked Sendable {
    public init(value: Int) {}
    public func wait() {}
    @discardableResult public func signal() -> Int { 0 }
}

public struct URLRequest: Sendable {
    public enum CachePolicy: Sendable { case reloadIgnoringLocalCacheData, reloadIgnoringLocalAndRemoteCacheData }
    public init(url: URL) {}
    public var httpMethod: String?
    public var httpBody: Data?
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {}
}

open class URLResponse: @unchecked Sendable {}

open class HTTPURLResponse: URLResponse, @unchecked Sendable {
    public let statusCode = 0, allHeaderFields = [AnyHashable: Any]()
}

open class URLCache: @unchecked Sendable {}

open class URLSessionConfiguration: @unchecked Sendable {
    public static var ephemeral: URLSessionConfiguration { fatalError() }
    public static var `default`: URLSessionConfiguration { fatalError() }
    public var urlCache: URLCache?
    public var requestCachePolicy = URLRequest.CachePolicy.reloadIgnoringLocalCacheData
    public var httpShouldSetCookies = false
    public var timeoutIntervalForRequest = 0.0, timeoutIntervalForResource = 0.0
}

open class URLSessionTask: @unchecked Sendable {
    public let taskIdentifier = 0, response = URLResponse?.none
    public func resume() {}
    public func cancel() {}
}

open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
public protocol URLSessionDelegate: AnyObject, Sendable {}
public protocol URLSessionTaskDelegate: URLSessionDelegate {}
public protocol URLSessionDataDelegate: URLSessionTaskDelegate {}

open class URLSession: @unchecked Sendable {
    public enum ResponseDisposition: Sendable { case allow, cancel }
    public static var shared: URLSession { fatalError() }
    public init(configuration: URLSessionConfiguration) {}
    public init(
        configuration: URLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue: OperationQueue?
    ) {}
    public func dataTask(with request: URLRequest) -> URLSessionDataTask { fatalError() }
    public func dataTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void
    ) -> URLSessionDataTask { fatalError() }
    @available(iOS 15.0, macOS 12.0, tvOS 15.0, watchOS 8.0, *)
    public func data(for request: URLRequest) async throws -> (Data, URLResponse) { fatalError() }
    public func finishTasksAndInvalidate() {}
}

extension String { public var capitalized: String { fatalError() } }

// What the compiler calls for `as NSError`.
public func _convertErrorToNSError(_ error: any Error) -> NSError { fatalError() }
