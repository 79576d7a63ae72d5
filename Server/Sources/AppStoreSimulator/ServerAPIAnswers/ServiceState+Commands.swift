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
        guard let found = found(id, scope) else {
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
        let lineItem = try store.transaction(extended.transactionID).webOrderLineItemID
        return ServerAPIAnswer([
            "originalTransactionId": .string(original.transactionID),
            "webOrderLineItemId": lineItem.map { .string("\($0)") }, "success": .boolean(true),
            "effectiveDate": .integer(Self.milliseconds(extended.expiresDate)),
        ])
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
                        && code.utf8.allSatisfy { $0.isCapital }
                })
            else { throw invalidStorefront }
        }
        let answer = ServerAPIAnswer(["requestIdentifier": .string(wanted.requestIdentifier)])
        let key = Self.key(scope, productID, wanted.requestIdentifier)
        guard settings.serverAPI.massExtensions[key] == nil else { return answer }
        let summary = try store.extendRenewals(
            of: productID, of: scope.app.bundleID, days: wanted.days, environment: scope.environment,
            storefronts: storefronts, requestIdentifier: wanted.requestIdentifier, hasCustomersLimits: true
        ).notification?.summary
        settings.serverAPI.massExtensions[key] = MassExtensionRecord(
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
        guard let record = settings.serverAPI.massExtensions[Self.key(scope, productID, identifier)] else {
            throw ServerAPIFailure(4_040_009, "The app has no such request.")
        }
        return ServerAPIAnswer([
            "requestIdentifier": .string(record.requestIdentifier), "complete": .boolean(true),
            "completeDate": .integer(Self.milliseconds(record.date)),
            "succeededCount": .integer(record.succeededCount), "failedCount": .integer(record.failedCount),
        ])
    }

    private static func key(_ scope: ServerAPIScope, _ productID: String, _ identifier: String) -> String {
        "\(scope.key)|\(productID)|\(identifier)"
    }

    /// Milliseconds since 1970.
    static func milliseconds(_ date: Date) -> Int64 { Int64((date.timeIntervalSince1970 * 1000).rounded()) }
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

extension ServiceState {
    /// The answer to `PUT /inApps/v2/transactions/consumption/{id}`.
    mutating func consumption(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        let body = try request.object()
        let transaction = try consumed(request.path[0], scope)
        let invalidConsent = ServerAPIFailure(4_000_035, "'customerConsented' is true.")
        guard try body.boolean("customerConsented", or: invalidConsent) == true else { throw invalidConsent }
        let invalidSample = ServerAPIFailure(4_000_041, "'sampleContentProvided' is true or false.")
        guard let isSample = try body.boolean("sampleContentProvided", or: invalidSample) else { throw invalidSample }
        let invalidDelivery = ServerAPIFailure(4_000_036, "There is no such delivery status.")
        guard let delivery = try body.string("deliveryStatus", or: invalidDelivery),
            Self.deliveryStatuses.contains(delivery)
        else { throw invalidDelivery }
        let invalidPreference = ServerAPIFailure(4_000_044, "There is no such refund preference.")
        let preference = try body.string("refundPreference", or: invalidPreference)
        guard preference.map({ Self.refundPreferences.contains($0) }) ?? true else { throw invalidPreference }
        // Apple names the next two errors without a number.
        let outOfRange = ServerAPIFailure(
            400, nil, "The consumption percentage is 0 to 100000, and neither of them with GRANT_PRORATED.")
        let percentage = try body.integer("consumptionPercentage", or: outOfRange)
        if let percentage {
            guard transaction.kind != .autoRenewable else {
                throw ServerAPIFailure(4_000_209, "Apple computes the percentage of an auto-renewable subscription.")
            }
            let allowed = preference == "GRANT_PRORATED" ? 1...99_999 : 0...100_000
            guard allowed.contains(Int(clamping: percentage)) else { throw outOfRange }
            guard percentage == 0 || delivery == "DELIVERED" else {
                throw ServerAPIFailure(400, nil, "What was not delivered has no consumption percentage.")
            }
        } else if preference == "GRANT_PRORATED", transaction.kind != .autoRenewable {
            throw outOfRange
        }
        keep(
            ConsumptionRecord(
                date: store.now, version: 2, isConsented: true, isSampleProvided: isSample, deliveryStatus: delivery,
                percentage: percentage, refundPreference: preference), of: transaction)
        return ServerAPIAnswer(status: 202)
    }

    /// The answer to `PUT /inApps/v1/transactions/consumption/{id}`, the deprecated call.
    mutating func consumptionV1(_ request: ServerAPIRequest, _ scope: ServerAPIScope) throws -> ServerAPIAnswer {
        let body = try request.object()
        let transaction = try consumed(request.path[0], scope)
        let invalidConsent = ServerAPIFailure(4_000_035, "'customerConsented' is true.")
        guard try body.boolean("customerConsented", or: invalidConsent) == true else { throw invalidConsent }
        let invalidSample = ServerAPIFailure(4_000_041, "'sampleContentProvided' is true or false.")
        let isSample = try body.boolean("sampleContentProvided", or: invalidSample)
        let invalidToken = ServerAPIFailure(4_000_033, "The app account token is no UUID.")
        if let token = try body.string("appAccountToken", or: invalidToken), !token.isEmpty {
            guard UUID(uuidString: token) != nil else { throw invalidToken }
        }
        var values: [String: Int64] = [:]
        for field in Self.fieldsOfV1 {
            let invalid = ServerAPIFailure(field.code, "'\(field.name)' is 0 to \(field.last).")
            guard let value = try body.integer(field.name, or: invalid) else { continue }
            guard (0...field.last).contains(value) else { throw invalid }
            values[field.name] = value
        }
        let preference = [1: "GRANT_FULL", 2: "DECLINE"][values["refundPreference"] ?? 0]
        // Fully consumed is 3, partly consumed is 2.
        let percentage = [1: Int64(0), 3: 100_000][values["consumptionStatus"] ?? 0]
        keep(
            ConsumptionRecord(
                date: store.now, version: 1, isConsented: true, isSampleProvided: isSample,
                deliveryStatus: values["deliveryStatus"].map { "\($0)" }, percentage: percentage,
                refundPreference: preference), of: transaction)
        return ServerAPIAnswer(status: 202)
    }

    private static let deliveryStatuses: Set<String> = [
        "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM", "UNDELIVERED_SERVER_OUTAGE",
        "UNDELIVERED_OTHER",
    ]
    private static let refundPreferences: Set<String> = ["DECLINE", "GRANT_FULL", "GRANT_PRORATED"]

    private static let fieldsOfV1: [(name: String, last: Int64, code: Int64)] = [
        ("accountTenure", 7, 4_000_032), ("consumptionStatus", 3, 4_000_034), ("deliveryStatus", 5, 4_000_036),
        ("lifetimeDollarsPurchased", 7, 4_000_037), ("lifetimeDollarsRefunded", 7, 4_000_038),
        ("platform", 2, 4_000_039), ("playTime", 7, 4_000_040), ("userStatus", 4, 4_000_042),
        ("refundPreference", 3, 4_000_044),
    ]

    /// A transaction that the developer may say something about.
    private func consumed(_ id: String, _ scope: ServerAPIScope) throws(ServerAPIFailure) -> StoreTransaction {
        let transaction = try transaction(id, scope)
        switch transaction.ownership {
        case .familyShared: throw .familySharedUnsupported
        case .assigned: throw .assignedUnsupported
        case .purchased: return transaction
        }
    }

    private mutating func keep(_ record: ConsumptionRecord, of transaction: StoreTransaction) {
        settings.serverAPI.consumption[transaction.transactionID] = record
        store.answerRefundRequest(
            of: transaction.transactionID,
            RefundRequest.Answer(preference: record.refundPreference, consumed: record.percentage))
    }
}
