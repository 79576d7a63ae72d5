import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TestSupport
import Testing

/// A ledger that knows what a recorded answer says, from minted signed data, and the drop-in above it.
struct MintedState {
    let ledger: PurchaseLedger
    let service: VerifyReceiptService
    let bundleID: String
    /// When Apple answered.
    let moment: Date

    /// Calls the body with a ledger in a temporary folder.
    static func with<Value>(
        bundleID: String, at moment: Date, _ body: (MintedState) async throws -> Value
    ) async throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appending(path: "assay-recorded-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer {
            // A leftover folder in the temporary folder does no harm.
            try? FileManager.default.removeItem(at: folder)
        }
        let database = try SQLiteDatabase(path: folder.appending(path: "state.sqlite").path)
        let now = Timestamp(moment)
        try await LedgerMigrations.migrate(database, now: now.millisecondsSince1970)
        let minted = try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
        let verifier = PurchaseVerifier(anchors: TrustAnchor.apple + minted)
        let ledger = try await PurchaseLedger.open(
            database: database, verifier: verifier, apps: [RegisteredApp(id: "app", bundleIDs: [bundleID])],
            clock: { now })
        let service = VerifyReceiptService(
            verifier: verifier, environments: [.production, .sandbox], sharedSecret: nil,
            dropIn: [bundleID: DropInSettings(app: "app")])
        let value = try await body(
            MintedState(ledger: ledger, service: service, bundleID: bundleID, moment: moment))
        try await ledger.close()
        return value
    }

    /// Observes a signed transaction with the values of a recorded entry.
    func observe(
        _ entry: [String: Any], environment: String, change: (inout SignedTransactionTemplate) -> Void = { _ in }
    )
        async throws
    {
        var template = transaction(entry, environment: environment)
        change(&template)
        let payload = try MintedWorld.mint(template)
        let outcome = try await ledger.observe(EvidenceSubmission(app: "app", source: "minted", evidence: payload))
        #expect(outcome.code == "accepted")
    }

    func transaction(_ entry: [String: Any], environment: String) -> SignedTransactionTemplate {
        func text(_ key: String) -> String? { entry[key] as? String ?? (entry[key] as? NSNumber)?.stringValue }
        func date(_ key: String) -> Date? {
            text(key + "_ms").flatMap { Double($0) }.map { Date(timeIntervalSince1970: $0 / 1000) }
        }
        var template = SignedTransactionTemplate()
        template.transactionID = text("transaction_id")
        template.originalTransactionID = text("original_transaction_id") ?? text("transaction_id")
        template.webOrderLineItemID = text("web_order_line_item_id")
        template.bundleID = bundleID
        template.productID = text("product_id")
        template.subscriptionGroupIdentifier = text("subscription_group_identifier")
        template.purchaseDate = date("purchase_date")
        template.originalPurchaseDate = date("original_purchase_date")
        template.expiresDate = date("expires_date")
        template.quantity = text("quantity").flatMap { Int64($0) }
        template.appAccountToken = text("app_account_token")
        template.inAppOwnershipType = text("in_app_ownership_type")
        template.signedDate = moment
        template.revocationDate = date("cancellation_date")
        template.revocationReason = text("cancellation_reason").flatMap { Int64($0) }
        template.isUpgraded = text("is_upgraded") == "true" ? true : nil
        template.environment = environment
        if template.expiresDate != nil { template.type = .autoRenewableSubscription }
        if text("is_trial_period") == "true" {
            (template.offerType, template.offerDiscountType) = (1, "FREE_TRIAL")
        } else if text("is_in_intro_offer_period") == "true" {
            (template.offerType, template.offerDiscountType) = (1, "PAY_AS_YOU_GO")
        } else if let promotion = text("promotional_offer_id") {
            (template.offerType, template.offerIdentifier) = (2, promotion)
        }
        if let code = text("offer_code_ref_name") { (template.offerType, template.offerIdentifier) = (3, code) }
        return template
    }

    /// Observes renewal info with the values of a recorded expected renewal.
    func observe(renewal recorded: [String: Any], of original: String, environment: String) async throws {
        func text(_ key: String) -> String? { recorded[key] as? String }
        var template = RenewalInfoTemplate()
        template.originalTransactionID = original
        template.productID = text("product_id")
        template.autoRenewProductID = text("auto_renew_product_id")
        template.autoRenewStatus = text("auto_renew_status").flatMap { Int64($0) }
        template.expirationIntent = text("expiration_intent").flatMap { Int64($0) }
        // Renewal info always says it.
        template.isInBillingRetryPeriod = text("is_in_billing_retry_period") == "1"
        template.priceIncreaseStatus = text("price_consent_status").flatMap { Int64($0) }
        template.gracePeriodExpiresDate = text("grace_period_expires_date_ms").flatMap { Double($0) }.map {
            Date(timeIntervalSince1970: $0 / 1000)
        }
        template.signedDate = moment
        template.environment = environment
        let payload = try MintedWorld.mint(template)
        let outcome = try await ledger.observe(EvidenceSubmission(app: "app", source: "minted", evidence: payload))
        #expect(outcome.code == "accepted")
    }

    /// The drop-in's answer to a request body.
    func answer(_ body: [UInt8]) async throws -> VerifyReceiptService.Answer {
        for endpoint in [VerifyReceiptService.Endpoint.production, .sandbox] {
            let prepared = service.prepare(body, at: endpoint, now: AppStoreTime(moment))
            if prepared.answer.reason?.code == VerifyReceiptReason.wrongEndpoint.code { continue }
            guard let question = prepared.question else { return prepared.answer }
            return service.answer(prepared, try await ledger.answer(question))
        }
        throw CocoaError(.featureUnsupported)
    }
}
