import Foundation

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
