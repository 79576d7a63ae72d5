import Crypto
import EvidenceMint
import Foundation
import TestSupport

/// A compact JWS assembled by hand, so that a test can write forms that no encoder writes.
struct HandmadeJWS {
    /// The header, as JSON.
    var header: String
    /// The payload, as JSON.
    var payload: String
    /// Replaces the payload's text.
    var payloadBytes: [UInt8]?
    /// The key that signs with ES256.
    var key: SigningKey
    /// Replaces the key's signature.
    var signature: [UInt8]?

    /// Signed data in the form that the shared store signs.
    init(_ payload: String, header: String? = nil) throws {
        self.payload = payload
        self.header = try header ?? Self.header()
        key = try MintedWorld.store().signedPayload.leaf.privateKey
    }

    /// A header. The members are JSON.
    static func header(
        alg: String = #""ES256""#, certificates: [[UInt8]]? = nil, more: String = ""
    ) throws -> String {
        let certificates = try certificates ?? chain()
        let x5c = certificates.map { "\"\(Data($0).base64EncodedString())\"" }.joined(separator: ",")
        return #"{"alg":\#(alg),"x5c":[\#(x5c)]\#(more)}"#
    }

    /// Leaf, intermediate and root of the shared store.
    static func chain() throws -> [[UInt8]] {
        let store = try MintedWorld.store().signedPayload
        return [store.leaf, store.intermediate, store.root].map(\.certificate)
    }

    struct NoSignature: Error {}

    func text() throws -> String {
        let input = Self.base64URL(Array(header.utf8)) + "." + Self.base64URL(payloadBytes ?? Array(payload.utf8))
        return try input + "." + Self.base64URL(signature ?? signature(of: Array(input.utf8)))
    }

    func bytes() throws -> [UInt8] { Array(try text().utf8) }

    private func signature(of input: [UInt8]) throws -> [UInt8] {
        guard case .p256(let key) = key else { throw NoSignature() }
        return [UInt8](try key.signature(for: SHA256.hash(data: input)).rawRepresentation)
    }

    static func base64URL(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }
}

/// Claims written as JSON, each value unchanged.
enum ClaimsText {
    /// The constant time of the tests in milliseconds.
    static let moment = "1700000000000"

    static let transaction = [
        "transactionId": #""2000000000000001""#, "bundleId": #""com.example.app""#, "productId": #""coins""#,
        "environment": #""Sandbox""#, "signedDate": moment,
    ]
    static let renewalInfo = [
        "autoRenewStatus": "1", "autoRenewProductId": #""monthly""#, "originalTransactionId": #""2000000000000001""#,
        "environment": #""Sandbox""#, "signedDate": moment,
    ]
    static let appTransaction = [
        "receiptType": #""Sandbox""#, "bundleId": #""com.example.app""#, "receiptCreationDate": moment,
    ]
    static let notification = [
        "notificationType": #""TEST""#, "notificationUUID": #""7edea87d-98f0-42d0-9682-49ca81022f73""#,
        "signedDate": moment,
    ]

    /// An object of the claims, with some of them replaced, added or (`nil`) removed.
    static func object(_ claims: [String: String], _ changes: [String: String?] = [:]) -> String {
        var claims = claims
        for (name, value) in changes { claims[name] = value }
        return "{" + claims.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }
}
