import Crypto
import EvidenceMint
import Foundation

/// What the store keeps for the App Store Server API, besides its purchases.
struct ServerAPIState: Codable, Equatable, Sendable {
    /// By their ids.
    var keys: [String: StoreAPIKey] = [:]
    /// Multiplies Apple's limits.
    var limitFactor = 1.0
    var faults: [ServerAPIFault] = []
    /// The events of test notifications, by their tokens.
    var testNotifications: [String: Int] = [:]
    /// By app, environment, product and identifier of the request.
    var massExtensions: [String: MassExtensionRecord] = [:]
    /// What developers said about consumption, by transaction.
    var consumption: [String: ConsumptionRecord] = [:]
    /// The claims of seats that the app's backend gives away, by original transaction.
    var seatClaims: [String: [SeatClaim]] = [:]
    /// The realtime URLs of the Retention Messaging API, by app and environment. (Coding keys with "URL" do not survive
    /// snake case.)
    var realtimeAddresses: [String: String] = [:]
    /// By app and environment.
    var externalReports: [String: ExternalReports] = [:]
}

/// What the developer said about the consumption of a transaction.
struct ConsumptionRecord: Codable, Equatable, Sendable {
    let date: Date
    /// 1 for the deprecated call, 2 for the present one.
    let version: Int
    let isConsented: Bool
    let isSampleProvided: Bool?
    /// In the words of version 2; a number in version 1.
    let deliveryStatus: String?
    /// In thousandths of a percent.
    let percentage: Int64?
    let refundPreference: String?
}

/// The reports of an app in an environment.
struct ExternalReports: Codable, Equatable, Sendable {
    /// Accepted reports as JSON, by their identifiers.
    var reports: [String: String] = [:]
    /// Whether a sale or a refund, by the identifiers of line items.
    var items: [String: String] = [:]
    /// Tokens that were reported with line items.
    var withItems: Set<String> = []
}

/// An extension for all subscribers of a product, with its outcome.
struct MassExtensionRecord: Codable, Equatable, Sendable {
    let requestIdentifier: String
    let date: Date
    let succeededCount: Int64
    let failedCount: Int64
}

/// A seat that the app's backend gave to a member.
struct SeatClaim: Codable, Equatable, Sendable {
    /// A UUID in small letters.
    let seatClaimID: String
    /// The same identifier again claims no further seat.
    let requestIdentifier: String
    /// The member, if the backend has named one: with the claim, or later.
    var appTransactionID: String?
}

/// A key that signs the tokens of the App Store Server API. The store keeps its public half.
struct StoreAPIKey: Codable, Equatable, Sendable {
    let keyID: String
    /// The issuer of the developer, the same for several keys.
    let issuerID: String
    /// The only app of the key; nil for all apps.
    let bundleID: String?
    /// PEM.
    let publicKey: String

    /// The key, for its owner: with the private half, which the store does not keep.
    struct Handout: Encodable, Sendable {
        let issuerID: String
        let keyID: String
        let bundleID: String?
        /// PKCS #8 in PEM.
        let privateKey: String
    }

    /// Makes a key.
    /// - Parameter issuerID: nil makes a new issuer.
    static func make(issuerID: String?, bundleID: String?) -> (key: StoreAPIKey, handout: Handout) {
        let pair = P256.Signing.PrivateKey()
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        let keyID = String((0..<10).map { _ in letters[Int.random(in: 0..<letters.count)] })
        let issuer = issuerID ?? UUID().uuidString.lowercased()
        return (
            StoreAPIKey(
                keyID: keyID, issuerID: issuer, bundleID: bundleID, publicKey: pair.publicKey.pemRepresentation),
            Handout(issuerID: issuer, keyID: keyID, bundleID: bundleID, privateKey: pair.pemRepresentation)
        )
    }

    /// Whether it made a signature of JWS, r and s one after the other.
    func isSignature(_ signature: Data, of signed: Data) -> Bool {
        do {
            let key = try P256.Signing.PublicKey(pemRepresentation: publicKey)
            return key.isValidSignature(try P256.Signing.ECDSASignature(rawRepresentation: signature), for: signed)
        } catch {
            // Another length.
            return false
        }
    }
}

/// A `revision` or `paginationToken`: the place where a list continues, bound to the question that it answers.
struct PageToken: Codable, Equatable, Sendable {
    let question: String
    /// Where to continue.
    var place: Int
    /// For a list from the last change to the first: the newest change of this run.
    var top = 0
    /// For such a list: the newest change of the run before.
    var floor = 0
    /// After which the token is refused, in seconds since 1970; nil if it stays valid.
    var expiry: Int64?

    /// The token that a client sends; without one, that of the beginning.
    /// - Parameter question: everything that must be repeated with the token.
    /// - Throws: the failure if it is no token, or belongs to another question.
    init(_ text: String?, question: [String], or failure: ServerAPIFailure) throws(ServerAPIFailure) {
        let digest = Self.digest(question)
        guard let text else {
            (self.question, place) = (digest, 0)
            return
        }
        guard text.utf8.count <= 512, let json = Base64URL.decode(text.utf8),
            let token = try? JSONDecoder().decode(PageToken.self, from: Data(json)),
            token.question.utf8.elementsEqual(digest.utf8)
        else { throw failure }
        self = token
    }

    func text() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return Base64URL.encode(try encoder.encode(self))
    }

    private static func digest(_ question: [String]) -> String {
        Data(SHA256.hash(data: Data(question.joined(separator: "\n").utf8)).prefix(12)).base64EncodedString()
    }
}

/// Base64 for URLs (RFC 4648, 5), without padding.
enum Base64URL {
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// - Returns: nil for anything else.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1, text.allSatisfy({ $0 != UInt8(ascii: "=") }) else { return nil }
        let base64 = text.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - base64.count % 4) % 4)
        return Data(base64Encoded: Data(base64 + padding)).map { Array($0) }
    }
}
