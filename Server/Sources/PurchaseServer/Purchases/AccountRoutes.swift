import Foundation
import HTTPTypes
import Hummingbird
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification

/// What an app may read of its customer: with a token that the backend gave it, or as a guest by the guest's id.
struct AccountRoutes {
    let api: PurchaseAPIContext
    /// Signs the tokens; `nil` without a key for answers.
    let signer: AnswerSigner?

    func add(to group: RouterGroup<ServerContext>) {
        group.post("customers/:id/tokens") { request, context in
            let app = try context.requireCaller(.backend).app.id
            let customerID = try context.identifier("id")
            try await api.bodies.withBody(of: request) { body in _ = try await api.request(NoFields.self, from: body) }
            guard let signer else {
                throw Problem(
                    .conflict, "answer_key_missing", "The server has no key that signs customer tokens.",
                    expected: "server.answer_key_file in the settings")
            }
            return try Response.json(try signer.token(of: customerID, app: app), status: .created)
        }
        group.get("me/entitlements") { request, context in
            let (app, customerID, isKnown) = try await customer(of: request, context)
            guard isKnown else {
                return try Response.json(EntitlementList(customerID: customerID, entitlements: [], named: []))
            }
            return try Response.json(try await api.entitlements(of: customerID, app: app))
        }
        group.get("me/offers") { request, context in
            let (app, customerID, isKnown) = try await customer(of: request, context)
            guard isKnown else {
                return try Response.json(CustomerOffers(customerID: customerID, mergedInto: nil, offers: []))
            }
            return try Response.json(try await api.nextOffers(of: customerID, app: app))
        }
    }

    /// The customer whom an app names by their token or their id as a guest. A guest who is not known, and anybody
    /// without the mark, look alike.
    private func customer(
        of request: Request, _ context: ServerContext
    ) async throws -> (app: String, customerID: String, isKnown: Bool) {
        let app = try context.requireCaller(.client).app.id
        let named = request.headers[.assayCustomer] ?? ""
        guard GuestID.isGuestID(named) else {
            return (app, try CustomerToken(named, of: app, signer).customer, true)
        }
        return (app, named, try await api.ledger.answer(IsGuest(app: app, customerID: named)))
    }
}

extension PurchaseAPIContext {
    /// All entitlements of a customer.
    func entitlements(of customerID: String, app: String) async throws -> EntitlementList {
        let query = EntitlementsOfCustomer(app: app, customerID: customerID)
        return EntitlementList(query, try await ledger.answer(query))
    }

    /// The offers that a customer may have next, and those that they may not.
    func nextOffers(of customerID: String, app: String) async throws -> CustomerOffers {
        let found = try await ledger.answer(OffersOfCustomer(app: app, customerID: customerID))
        let offers = found.offers.map {
            CustomerOffers.Offer(
                productID: $0.productID, offerID: $0.offerID, type: $0.type.rawValue, eligible: $0.isEligible,
                reason: $0.reason.rawValue)
        }
        return CustomerOffers(customerID: customerID, mergedInto: found.mergedInto, offers: offers)
    }

    /// The whole account in the answer to a claim or restore that asked for it: only if the customer of the request
    /// owns what the evidence proves, or is a guest, whose id is a secret.
    func account(
        of customerID: String?, app: String, isWanted: Bool?, isOwner: Bool, isGuest: Bool?
    ) async throws -> EntitlementList? {
        guard isWanted == true, let customerID else { return nil }
        if !isOwner {
            guard isGuest == true, try await ledger.answer(IsGuest(app: app, customerID: customerID)) else {
                return nil
            }
        }
        return try await entitlements(of: customerID, app: app)
    }
}

/// A customer token: its purpose, the claims as JSON in base64, and the Ed25519 signature of both, with dots between
/// them. No other signature of the key covers a text that begins with the purpose.
struct CustomerToken {
    /// How long a token is valid, in seconds.
    static let lifetime: Int64 = 3600
    static let purpose = "assay-customer-1"
    /// Longer tokens are not read: an identifier has at most 255 bytes.
    private static let largestBytes = 2048

    let customer: String

    struct Claims: Codable {
        var app: String
        var customer: String
        /// In seconds since 1970.
        var ends: Int64
    }

    /// Reads a token that this server signed for an app.
    init(_ text: String, of app: String, _ signer: AnswerSigner?) throws(Problem) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard text.utf8.count <= Self.largestBytes, parts.count == 3, parts[0] == Self.purpose else {
            throw Self.invalid("a customer token, or the id of a guest", found: "\(text.utf8.count) bytes")
        }
        guard let signer, let claims = Data(base64Encoded: String(parts[1])),
            let signature = Data(base64Encoded: String(parts[2])),
            signer.isSignature(signature, of: Data("\(parts[0]).\(parts[1])".utf8)),
            let read = try? JSONDecoder().decode(Claims.self, from: claims)
        else {
            throw Self.invalid(
                "a signature of the key \(signer?.keyID ?? "of this server")", found: "another signature")
        }
        guard read.app.isSame(as: app) else { throw Self.invalid(app, found: read.app) }
        let now = signer.clock()
        guard now < read.ends else {
            throw Problem(
                .unauthorized, "customer_token_expired", "The customer token has ended; ask the backend for another.",
                expected: "a time before \(Self.time(read.ends))", found: "\(Self.time(now))")
        }
        customer = read.customer
    }

    static func time(_ seconds: Int64) -> Timestamp { Timestamp(millisecondsSince1970: seconds * 1000) }

    private static func invalid(_ expected: String, found: String) -> Problem {
        Problem(
            .unauthorized, "customer_token_invalid", "The header Assay-Customer names no customer of this app.",
            expected: expected, found: found)
    }
}

extension AnswerSigner {
    fileprivate func token(of customer: String, app: String) throws -> CustomerTokenMessage {
        let ends = clock() + CustomerToken.lifetime
        let claims = try Wire.json(CustomerToken.Claims(app: app, customer: customer, ends: ends))
        let text = "\(CustomerToken.purpose).\(Data(claims).base64EncodedString())"
        return CustomerTokenMessage(
            token: "\(text).\(try signature(of: Data(text.utf8)).base64EncodedString())",
            expiresAt: "\(CustomerToken.time(ends))")
    }
}

extension HTTPField.Name {
    // The name is a valid token, so the other one is never used.
    fileprivate static let assayCustomer = HTTPField.Name(EntitlementList.customerHeader) ?? .cookie
}
