import EvidenceMint
import Foundation

extension ServiceState {
    /// The answer to `POST /inApps/v1/transactions/{id}/finish`.
    mutating func finish(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        try store.finish(try transaction(request.path[0], scope).transactionID)
        return ServerAPIAnswer(status: 200)
    }

    /// The answer to `PUT /inApps/v1/transactions/{originalTransactionId}/appAccountToken`.
    mutating func setAccountToken(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        let noUUID = ServerAPIFailure(4_000_183, "The app account token is no UUID.")
        let token = try request.object().string("appAccountToken", or: noUUID)
        let id = request.path[0]
        guard Self.isNumber(id) else { throw ServerAPIFailure.invalidTransactionID }
        guard let found = store.state.transactions[id], found.bundleID == scope.app.bundleID,
            found.environment == scope.environment
        else {
            // Only an app transaction of this app is another failure.
            _ = try owner(id, scope, unknown: .unknownOriginalTransactionID)
            throw ServerAPIFailure.appTransactionIDUnsupported
        }
        guard found.originalTransactionID == id else {
            throw ServerAPIFailure(4_000_187, "The transaction is not the original one.")
        }
        switch found.ownership {
        case .familyShared: throw ServerAPIFailure.familySharedUnsupported
        case .assigned: throw ServerAPIFailure.assignedUnsupported
        case .purchased: break
        }
        guard let token, let uuid = UUID(uuidString: token) else { throw noUUID }
        try store.setAccountToken(uuid.uuidString.lowercased(), of: id)
        return ServerAPIAnswer(status: 200)
    }

    /// The same as `owner(_:_:)`, with another failure for an unknown identifier.
    private func owner(
        _ id: String, _ scope: ServerAPIScope, unknown: ServerAPIFailure
    ) throws(ServerAPIFailure) -> String {
        do {
            return try owner(id, scope)
        } catch {
            throw error == .unknownTransactionID ? unknown : error
        }
    }

    /// The answer to `PUT /inApps/v1/subscriptions/extend/{originalTransactionId}`.
    mutating func extend(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        let wanted = try ExtensionRequest(try request.object())
        let original = try originalTransaction(request.path[0], scope, invalid: .invalidOriginalTransactionID)
        switch original.ownership {
        case .familyShared: throw ServerAPIFailure(4_030_007, "The subscription is shared by a family member.")
        case .assigned: throw ServerAPIFailure(4_030_028, "The subscription is an assigned seat.")
        case .purchased: break
        }
        guard let subscription = store.state.subscriptions[original.transactionID] else {
            throw ServerAPIFailure.unknownOriginalTransactionID
        }
        switch store.extensibility(of: subscription) {
        case .extensible: break
        case .ineligible: throw ServerAPIFailure(4_030_004, "The subscription cannot be extended now.")
        case .exhausted: throw ServerAPIFailure(4_030_005, "The customer had two extensions within a year.")
        }
        let extended = try store.extendRenewalOfCustomer(original.transactionID, days: wanted.days)
        var members = [
            Claim("originalTransactionId", .string(original.transactionID)), Claim("success", .boolean(true)),
            Claim("effectiveDate", .integer(Self.milliseconds(extended.expiresDate))),
        ]
        if let lineItem = try store.transaction(extended.transactionID).webOrderLineItemID {
            members.insert(Claim("webOrderLineItemId", .string("\(lineItem)")), at: 1)
        }
        return ServerAPIAnswer(members)
    }

    /// The answer to `POST /inApps/v1/subscriptions/extend/mass`. The extensions are made at once.
    mutating func massExtend(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        let body = try request.object()
        let wanted = try ExtensionRequest(body)
        let invalidProduct = ServerAPIFailure(4_000_023, "The product identifier is none of the app's.")
        guard let productID = try body.string("productId", or: invalidProduct),
            let product = store.state.products[StoreState.key(scope.app.bundleID, productID)],
            product.kind == .autoRenewable
        else { throw invalidProduct }
        let invalidStorefront = ServerAPIFailure(4_000_028, "A storefront has three capital letters.")
        let storefronts = try body.strings("storefrontCountryCodes", or: invalidStorefront)
        if let storefronts {
            guard !storefronts.isEmpty else { throw ServerAPIFailure(4_000_027, "The list of storefronts is empty.") }
            guard
                storefronts.allSatisfy({ code in
                    code.utf8.count == 3
                        && code.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
                })
            else { throw invalidStorefront }
        }
        let answer = ServerAPIAnswer([Claim("requestIdentifier", .string(wanted.requestIdentifier))])
        let key = Self.key(scope, productID, wanted.requestIdentifier)
        guard serverAPI.massExtensions[key] == nil else { return answer }
        let summary = try store.extendRenewals(
            of: productID, of: scope.app.bundleID, days: wanted.days, environment: scope.environment,
            storefronts: storefronts, requestIdentifier: wanted.requestIdentifier, hasCustomersLimits: true
        ).notification?.summary
        serverAPI.massExtensions[key] = MassExtensionRecord(
            requestIdentifier: wanted.requestIdentifier, date: store.now,
            succeededCount: summary?.succeededCount ?? 0, failedCount: summary?.failedCount ?? 0)
        return answer
    }

    /// The answer to `GET /inApps/v1/subscriptions/extend/mass/{productId}/{requestIdentifier}`.
    mutating func massExtendStatus(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        let (productID, identifier) = (request.path[0], request.path[1])
        guard (1...255).contains(productID.utf8.count) else {
            throw ServerAPIFailure(4_000_023, "The product identifier has a wrong form.")
        }
        guard (1...ExtensionRequest.longestIdentifier).contains(identifier.utf8.count) else {
            throw ExtensionRequest.invalidIdentifier
        }
        guard let record = serverAPI.massExtensions[Self.key(scope, productID, identifier)] else {
            throw ServerAPIFailure(4_040_009, "The app has no such request.")
        }
        return ServerAPIAnswer([
            Claim("requestIdentifier", .string(record.requestIdentifier)), Claim("complete", .boolean(true)),
            Claim("completeDate", .integer(Self.milliseconds(record.date))),
            Claim("succeededCount", .integer(record.succeededCount)),
            Claim("failedCount", .integer(record.failedCount)),
        ])
    }

    private static func key(_ scope: ServerAPIScope, _ productID: String, _ identifier: String) -> String {
        "\(scope.key)|\(productID)|\(identifier)"
    }

    /// Milliseconds since 1970.
    static func milliseconds(_ date: Date) -> Int64 {
        Int64((date.timeIntervalSince1970 * 1000).rounded())
    }
}

/// The members of an extension that one and all subscribers have in common.
private struct ExtensionRequest {
    let days: Int
    let requestIdentifier: String

    static let longestIdentifier = 128
    static let invalidIdentifier = ServerAPIFailure(
        4_000_011, "The request identifier has 1 to \(longestIdentifier) bytes.")

    init(_ body: APIObject) throws(ServerAPIFailure) {
        let invalidDays = ServerAPIFailure(4_000_009, "A subscription is extended by 1 to 90 days.")
        guard let days = try body.integer("extendByDays", or: invalidDays), (1...90).contains(days) else {
            throw invalidDays
        }
        let invalidReason = ServerAPIFailure(4_000_010, "The reason of an extension is 0 to 3.")
        guard let reason = try body.integer("extendReasonCode", or: invalidReason), (0...3).contains(reason) else {
            throw invalidReason
        }
        guard let identifier = try body.string("requestIdentifier", or: Self.invalidIdentifier),
            (1...Self.longestIdentifier).contains(identifier.utf8.count)
        else { throw Self.invalidIdentifier }
        self.days = Int(days)
        requestIdentifier = identifier
    }
}
