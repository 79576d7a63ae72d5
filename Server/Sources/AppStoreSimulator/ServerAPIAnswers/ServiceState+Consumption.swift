import EvidenceMint
import Foundation

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
        serverAPI.consumption[transaction.transactionID] = record
        store.answerRefundRequest(
            of: transaction.transactionID,
            RefundRequest.Answer(preference: record.refundPreference, consumed: record.percentage))
    }
}
