import EvidenceMint
import Foundation
import PurchaseAPI

extension ServiceState {
    /// The longest life of a token, in seconds.
    private static let longestLife: Int64 = 3600
    /// How much longer a token without `iat` may last, because its client's clock may be ahead, in seconds.
    private static let tolerance: Int64 = 60

    /// Checks the token of a request. Its times count by the real clock or by the store's, whichever it fits: a client
    /// may follow either.
    /// - Returns: the app that it is for.
    func app(of request: ServerAPIRequest, _ world: Date) throws(ServerAPITokenFault) -> StoreApp {
        let words = (request.authorization ?? "").split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "bearer" else { throw .missing }
        let parts = words[1].utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Base64URL.decode(parts[0]).flatMap({ APIObject($0) }),
            let claims = Base64URL.decode(parts[1]).flatMap({ APIObject($0) }),
            let signature = Base64URL.decode(parts[2])
        else { throw .malformed }
        guard Self.text("alg", head) == "ES256" else { throw .wrongAlgorithm }
        guard !head.has("typ") || Self.text("typ", head) == "JWT" else { throw .wrongType }
        guard let keyID = Self.text("kid", head), let key = serverAPI.keys[keyID] else { throw .unknownKey }
        let signed = Data(words[1].utf8.prefix(parts[0].count + 1 + parts[1].count))
        guard key.isSignature(Data(signature), of: signed) else { throw .wrongSignature }
        guard Self.text("iss", claims) == key.issuerID else { throw .wrongIssuer }
        guard Self.text("aud", claims) == "appstoreconnect-v1" else { throw .wrongAudience }
        guard let bundleID = Self.text("bid", claims), let app = store.state.apps[bundleID],
            key.bundleID.map({ $0 == bundleID }) ?? true
        else { throw .wrongBundleID }
        guard let expiry = Self.number("exp", claims) else { throw .missingExpiry }
        let issued = Self.number("iat", claims)
        let faults = [world, store.now].map { Self.fault(expiry, issued, at: Int64($0.timeIntervalSince1970)) }
        if let fault = faults[0], faults[1] != nil { throw fault }
        guard app.isReleased ?? true || request.environment == .sandbox else { throw .unreleasedApp }
        return app
    }

    /// What is wrong with the times of a token.
    private static func fault(_ expiry: Int64, _ issued: Int64?, at now: Int64) -> ServerAPITokenFault? {
        if expiry <= now { return .expired }
        if let issued, issued > now { return .fromTheFuture }
        // The difference of two numbers from outside may overflow.
        let (life, overflows) = expiry.subtractingReportingOverflow(issued ?? now)
        return overflows || life > longestLife + (issued == nil ? tolerance : 0) ? .lastsTooLong : nil
    }

    private static func text(_ name: String, _ object: APIObject) -> String? {
        (try? object.string(name, or: .generalBadRequest)) ?? nil
    }

    private static func number(_ name: String, _ object: APIObject) -> Int64? {
        (try? object.integer(name, or: .generalBadRequest)) ?? nil
    }
}
