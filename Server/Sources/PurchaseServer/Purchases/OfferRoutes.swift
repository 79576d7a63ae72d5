import AppStoreConnection
import Crypto
import Foundation
import Hummingbird
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// Signs offers for customers, by the rules of the settings.
struct OfferRoutes {
    let api: PurchaseAPIContext
    let access: AppStoreAccess
    /// The largest request of the Advanced Commerce API, in bytes.
    private static let largestRequest = 64 << 10

    func add(to group: RouterGroup<ServerContext>) {
        group.post("offers/signatures") { request, context in try await sign(request, context) }
        group.get("customers/:id/offers") { _, context in
            let app = try context.requireCaller(.backend).app.id
            return try Response.json(try await api.nextOffers(of: try context.identifier("id"), app: app))
        }
    }

    private func sign(_ request: Request, _ context: ServerContext) async throws -> Response {
        let app = try context.requireCaller(.backend).app
        return try await api.bodies.withBody(of: request) { body in
            let wanted = try await api.request(OfferSignatureRequest.self, from: body)
            let offer = try Self.checked(wanted, app: app.id)
            guard let signer = access.terms.signer(app.id, bundleID: wanted.bundleID) else {
                throw Self.missingKey(app, wanted.bundleID, access.terms)
            }
            let signed = try await api.ledger.perform(offer)
            var message = OfferSignatureMessage(
                customerID: wanted.customerID, kind: wanted.kind, signedAt: "\(signed.signedAt)",
                entryID: signed.entryID.text)
            message.mergedInto = signed.mergedInto
            (message.productID, message.offerID) = (wanted.productID, wanted.offerID)
            try Self.sign(&message, wanted, offer.kind, signed, signer)
            return try Response.json(message, status: .created)
        }
    }

    /// The offer of a request, if the request has exactly the members of its kind.
    private static func checked(_ wanted: OfferSignatureRequest, app: String) throws -> SignOffer {
        guard let kind = OfferKind(rawValue: wanted.kind) else {
            throw Problem.parameter("kind", OfferKind.allCases.map(\.rawValue).joined(separator: ", "))
        }
        func require(_ name: String, _ isThere: Bool, _ isWanted: Bool, isOptional: Bool = false) throws {
            if isThere, !isWanted { throw Problem.parameter(name, "no \(name) for the kind \(kind.rawValue)") }
            if !isThere, isWanted, !isOptional {
                throw Problem.parameter(name, "a \(name) for the kind \(kind.rawValue)")
            }
        }
        let isPromotional = kind == .promotional || kind == .promotionalV1
        let isIntroductory = kind == .introductoryEligibility
        try require("product_id", wanted.productID != nil, kind != .advancedCommerce)
        try require("offer_id", wanted.offerID != nil, isPromotional)
        try require(
            "transaction_id", wanted.transactionID != nil, kind == .promotional || isIntroductory,
            isOptional: kind == .promotional)
        try require("allow_introductory_offer", wanted.allowIntroductoryOffer != nil, isIntroductory)
        try require("app_account_token", wanted.appAccountToken != nil, kind == .promotionalV1, isOptional: true)
        try require("request", wanted.request != nil, kind == .advancedCommerce)
        if let token = wanted.appAccountToken, UUID(uuidString: token) == nil || token.utf8.count != 36 {
            throw Problem.parameter("app_account_token", "a UUID of 36 characters")
        }
        var digest: [UInt8]?
        if let request = wanted.request {
            let bytes = Array(request.utf8)
            guard bytes.count <= largestRequest, (try? JSONSerialization.jsonObject(with: Data(bytes))) is [String: Any]
            else { throw Problem.parameter("request", "a JSON object as text, of at most \(largestRequest) bytes") }
            digest = Array(SHA256.hash(data: bytes))
        }
        return SignOffer(
            app: app, customerID: wanted.customerID, kind: kind, offerID: wanted.offerID, productID: wanted.productID,
            transactionID: wanted.transactionID, accountToken: wanted.appAccountToken.flatMap(UUID.init),
            allowsIntroductory: wanted.allowIntroductoryOffer, requestSHA256: digest)
    }

    private static func sign(
        _ message: inout OfferSignatureMessage, _ wanted: OfferSignatureRequest, _ kind: OfferKind,
        _ signed: SignOffer.Outcome, _ signer: OfferSigner
    ) throws {
        let nonce = signed.nonce
        let date = signed.signedAt.date
        let (product, offer) = (wanted.productID ?? "", wanted.offerID ?? "")
        switch kind {
        case .promotional:
            message.jws = try signer.promotionalOffer(
                productID: product, offerID: offer, transactionID: wanted.transactionID, nonce: nonce, at: date)
        case .introductoryEligibility:
            message.jws = try signer.introductoryOfferEligibility(
                productID: product, isAllowed: wanted.allowIntroductoryOffer ?? false,
                transactionID: wanted.transactionID ?? "", nonce: nonce, at: date)
        case .advancedCommerce:
            message.jws = try signer.advancedCommerce(
                request: Array((wanted.request ?? "").utf8), nonce: nonce, at: date)
        case .promotionalV1:
            let timestamp = signed.signedAt.millisecondsSince1970 - AppStoreServerKey.backdating * 1000
            message.signature = try signer.promotionalOfferV1(
                productID: product, offerID: offer, applicationUsername: wanted.appAccountToken ?? "", nonce: nonce,
                timestamp: timestamp)
            (message.keyID, message.nonce, message.timestamp) = (signer.keyID, nonce.text, timestamp)
        }
    }

    private static func missingKey(
        _ app: RegisteredApp, _ bundleID: String?, _ terms: AppStoreTerms
    ) -> Problem {
        guard !terms.keys[app.id, default: []].isEmpty else { return .appStoreNotConfigured }
        return Problem.parameter("bundle_id", "one of \(app.bundleIDs.sorted().joined(separator: ", "))")
    }
}
