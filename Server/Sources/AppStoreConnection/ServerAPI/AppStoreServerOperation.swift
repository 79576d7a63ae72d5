import Foundation

/// A call of the App Store Server API: its request, its limit, and how its answer is read.
///
/// The library has a type for each operation of Apple. A caller can add one that Apple adds later.
public protocol AppStoreServerOperation: Sendable {
    associatedtype Answer: Sendable

    /// The calls of one app in a second in production; the sandbox allows a tenth of it.
    static var callsPerSecond: Double { get }
    /// Where it can be called.
    static var place: AppStoreServerPlace { get }
    /// Whether a call may be made again if its outcome is unknown.
    static var isRepeatable: Bool { get }

    /// What is said above, and the name; a row of a table states them itself.
    var terms: AppStoreServerTerms { get }

    var request: AppStoreServerRequest { get }

    /// Reads an answer, and verifies everything in it that Apple signed.
    ///
    /// - Throws: `AppStoreServerReplyFault` for an answer that is not believed.
    func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) -> Answer
}

extension AppStoreServerOperation {
    public static var callsPerSecond: Double { 50 }
    public static var place: AppStoreServerPlace { .environmentOfID }
    public static var isRepeatable: Bool { true }

    public var terms: AppStoreServerTerms {
        AppStoreServerTerms(
            name: "\(Self.self)", callsPerSecond: Self.callsPerSecond, place: Self.place,
            isRepeatable: Self.isRepeatable)
    }
}

/// How an operation may be called.
public struct AppStoreServerTerms: Sendable {
    /// The name in metrics: one of this version's operations.
    public let name: String
    /// The calls of one app in a second in production.
    public let callsPerSecond: Double
    public let place: AppStoreServerPlace
    /// Whether a call may be made again if its outcome is unknown.
    public let isRepeatable: Bool
}

extension AppStoreServerOperation where Answer == Void {
    /// Apple answers without a body. A page that a proxy sent in place of the answer confirms nothing.
    public func read(_ reply: AppStoreServerReply) throws(AppStoreServerReplyFault) { try reply.requireNoPage() }
}

/// The environments in which an operation can be called.
public enum AppStoreServerPlace: Sendable, Equatable {
    /// The operation names a transaction or the like, which one of the environments knows: production is asked first,
    /// then the sandbox.
    case environmentOfID
    /// The operation has an effect or an answer in each environment: production, unless the caller names another.
    case anyEnvironment
    /// Only one environment has the operation.
    case only(ValidationEnvironment)
    /// The operation is about groups and seats, which only the environments of the settings have; of both, it is looked
    /// for as by `environmentOfID`.
    case ofGroups
}

/// The request of an operation.
public struct AppStoreServerRequest: Sendable, Equatable {
    public enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case delete = "DELETE"
    }

    public var method: Method
    /// The parts of the path; each is encoded, so that an identifier cannot lead to another path.
    public var path: [String]
    /// The query, in its order; a name may occur several times.
    public var query: [(name: String, value: String)] = []
    public var body: Body?

    /// A body with its type.
    public struct Body: Sendable, Equatable {
        public var bytes: [UInt8]
        public var contentType: String

        public init(bytes: [UInt8], contentType: String) {
            self.bytes = bytes
            self.contentType = contentType
        }
    }

    public init(_ method: Method, _ path: [String]) {
        self.method = method
        self.path = path
    }

    /// A request with a JSON body.
    init(_ method: Method, _ path: [String], json: some Encodable) {
        self.init(method, path)
        // The bodies of this library are structures of texts, numbers and Booleans, which always can be encoded.
        body = (try? AppStoreServerKey.encoded(json)).map { Body(bytes: $0, contentType: "application/json") }
    }

    /// The path and the query, as they are sent.
    var target: String {
        let path = path.map { "/" + Self.encoded($0) }.joined()
        guard !query.isEmpty else { return path }
        return path + "?" + query.map { "\(Self.encoded($0.name))=\(Self.encoded($0.value))" }.joined(separator: "&")
    }

    private static func encoded(_ text: String) -> String {
        // A part of dots alone would be another path.
        if text == "." || text == ".." { return text.replacing(".", with: "%2E") }
        return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }

    /// RFC 3986, section 2.3.
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    public static func == (left: Self, right: Self) -> Bool {
        left.method == right.method && left.target == right.target && left.body == right.body
    }
}

extension UUID {
    /// The UUID in small letters, as Apple writes it.
    var lowercased: String { uuidString.lowercased() }
}
