import EvidenceMint
import Foundation
import PurchaseAPI

/// A request to the App Store Server API, read from HTTP.
struct ServerAPIRequest: Sendable {
    let operation: ServerAPIOperation
    let environment: StoreEnvironment
    let authorization: String?
    /// The variable parts of the path, in order.
    var path: [String]
    /// The query, with repeated keys.
    let query: [(name: String, value: String)]
    let contentType: String?
    let body: [UInt8]

    /// The values of a key of the query.
    func values(_ name: String) -> [String] {
        query.filter { $0.name.utf8.elementsEqual(name.utf8) }.map(\.value)
    }

    /// The only value of a key; the last one if it is repeated.
    func value(_ name: String) -> String? { values(name).last }

    /// The JSON object of the body.
    /// - Throws: 4000000 for anything else.
    func object() throws -> APIObject {
        guard contentType?.split(separator: ";").first.map({ $0.lowercased() == "application/json" }) == true,
            let object = APIObject(body)
        else { throw ServerAPIFailure.generalBadRequest }
        return object
    }
}

/// An app in an environment, as a token and a host name select it.
struct ServerAPIScope: Sendable {
    let app: StoreApp
    let environment: StoreEnvironment
    /// Signs the answers.
    let issuer: EvidenceIssuer

    /// The name of the environment in answers.
    var environmentName: String { app.environmentNames.name(of: environment) }
    /// The number of the app; nil in the sandbox.
    var appAppleID: Int64? { environment == .production ? Int64(clamping: app.appID) : nil }
    /// The key of content per app and environment.
    var key: String { "\(app.bundleID)|\(environment.rawValue)" }

    /// `environment`, `bundleId` and, in production, `appAppleId`.
    var claims: [Claim] {
        [Claim]([
            "environment": .string(environmentName), "bundleId": .string(app.bundleID),
            "appAppleId": appAppleID.map(ClaimValue.integer),
        ])
    }
}

/// An answer of the App Store Server API, before the faults of the transport.
struct ServerAPIAnswer: Sendable {
    var status: Int
    /// The JSON of the answer; nil for none.
    var json: ClaimValue?
    /// When a request may be sent again, in milliseconds since 1970: Apple's `Retry-After` is no number of seconds.
    var retryAfter: Int64?
    /// Why the token was refused. The body has no JSON then.
    var tokenFault: ServerAPITokenFault?
    /// The fault that the answer gets on its way.
    var fault: ServerAPIFault?

    /// An answer with JSON.
    init(_ members: [Claim], status: Int = 200) { (self.status, json) = (status, .object(members)) }

    init(_ members: KeyValuePairs<String, ClaimValue?>) { self.init([Claim](members)) }

    /// An answer without a body.
    init(status: Int) { self.status = status }

    init(_ fault: ServerAPITokenFault) {
        status = 401
        tokenFault = fault
    }

    init(_ failure: ServerAPIFailure) {
        status = failure.status
        guard failure.hasBody else { return }
        json = .object(["errorCode": failure.code.map(ClaimValue.integer), "errorMessage": .string(failure.message)])
    }
}

extension [Claim] {
    /// Members in their order. Those that are nil are omitted.
    init(_ members: KeyValuePairs<String, ClaimValue?>) {
        self = members.compactMap { name, value in value.map { Claim(name, $0) } }
    }
}

extension ClaimValue {
    static func object(_ members: KeyValuePairs<String, ClaimValue?>) -> ClaimValue { .object([Claim](members)) }
}

/// A JSON object from outside, whose members are read with exact types.
struct APIObject: Sendable {
    private let members: [String: Value]

    private enum Value: Decodable, Sendable {
        case null
        case boolean(Bool)
        case integer(Int64)
        case string(String)
        case array([Value])
        case object([String: Value])
        /// A number with a fraction, or a greater one.
        case other

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let value = try? container.decode(Bool.self) {
                self = .boolean(value)
            } else if let value = try? container.decode(Int64.self) {
                self = .integer(value)
            } else if let value = try? container.decode(String.self) {
                self = .string(value)
            } else if let value = try? container.decode([Value].self) {
                self = .array(value)
            } else if let value = try? container.decode([String: Value].self) {
                self = .object(value)
            } else {
                self = .other
            }
        }
    }

    /// - Returns: nil if the text is not an object, or exceeds the limits of the simulator.
    init?(_ json: some Sequence<UInt8>) {
        let bytes = Array(json)
        do {
            try WrittenJSON.checkLimits(of: bytes)
            members = try JSONDecoder().decode([String: Value].self, from: Data(bytes))
        } catch {
            return nil
        }
    }

    var names: [String] { Array(members.keys) }

    /// Whether the object has the member with a value other than null.
    func has(_ name: String) -> Bool {
        switch members[name] {
        case nil, .null: false
        default: true
        }
    }

    // A value of a type; nil if the member is absent or null. They throw the failure for any other type.

    func string(_ name: String, or failure: ServerAPIFailure) throws(ServerAPIFailure) -> String? {
        try value(name, or: failure) { if case .string(let value) = $0 { value } else { nil } }
    }

    /// A whole number.
    func integer(_ name: String, or failure: ServerAPIFailure) throws(ServerAPIFailure) -> Int64? {
        try value(name, or: failure) { if case .integer(let value) = $0 { value } else { nil } }
    }

    func boolean(_ name: String, or failure: ServerAPIFailure) throws(ServerAPIFailure) -> Bool? {
        try value(name, or: failure) { if case .boolean(let value) = $0 { value } else { nil } }
    }

    func strings(_ name: String, or failure: ServerAPIFailure) throws(ServerAPIFailure) -> [String]? {
        try value(name, or: failure) { value in
            guard case .array(let members) = value else { return nil }
            let texts = members.compactMap { if case .string(let text) = $0 { text } else { nil } }
            return texts.count == members.count ? texts : nil
        }
    }

    private func value<Wanted>(
        _ name: String, or failure: ServerAPIFailure, _ read: (Value) -> Wanted?
    ) throws(ServerAPIFailure) -> Wanted? {
        guard has(name), let member = members[name] else { return nil }
        guard let value = read(member) else { throw failure }
        return value
    }
}
