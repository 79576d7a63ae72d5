import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport
import Testing

@Suite("One fact has one name and type in every kind of evidence")
struct EqualFactsTests {
    private func verified(_ bytes: [UInt8]) throws -> VerifiedEvidence {
        let anchors = try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
        return try PurchaseVerifier(anchors: anchors).verify(bytes, policies: [])
    }

    /// Compiles only if all three have the same type.
    private func agree<Value: Equatable>(_ values: Value?...) -> Bool {
        values.allSatisfy { $0 != nil && $0 == values[0] }
    }

    private static let token = "7edea87d-98f0-42d0-9682-49ca81022f73"

    @Test("3 One purchase reads the same from an app receipt, a transaction receipt and a signed transaction")
    func purchase() throws {
        var bought = MintedWorld.subscription()
        bought.quantity = 3
        bought.ownershipType = .familyShared
        bought.promotionalOfferID = "spring"
        bought.productAdamID = 77
        bought.webOrderLineItemID = 500_000_000_000_003
        var receiptTemplate = MintedWorld.receipt()
        receiptTemplate.purchases = [bought]
        receiptTemplate.applicationVersion = "7"
        var old = MintedWorld.transactionReceipt()
        old.quantity = 3
        old.inAppOwnershipType = "FAMILY_SHARED"
        old.webOrderLineItemID = "500000000000003"
        old.itemID = 77
        var modern = MintedWorld.transaction()
        modern.quantity = 3
        modern.inAppOwnershipType = "FAMILY_SHARED"
        modern.offerIdentifier = "spring"
        modern.webOrderLineItemID = "500000000000003"
        guard case .appReceipt(let receipt) = try verified(try MintedWorld.mint(receiptTemplate)),
            let purchase = receipt.inAppPurchases.first,
            case .transactionReceipt(let single) = try verified(try MintedWorld.mint(old, .three)),
            case .signedTransaction(let signed) = try verified(try MintedWorld.mint(modern))
        else { throw CorpusError.empty }
        #expect(agree(purchase.transactionID, single.transactionID, signed.transactionID))
        #expect(agree(purchase.originalTransactionID, single.originalTransactionID, signed.originalTransactionID))
        #expect(agree(purchase.productID, single.productID, signed.productID))
        #expect(agree(purchase.quantity, single.quantity, signed.quantity))
        #expect(agree(purchase.purchaseDate, single.purchaseDate, signed.purchaseDate))
        #expect(agree(purchase.originalPurchaseDate, single.originalPurchaseDate, signed.originalPurchaseDate))
        #expect(agree(purchase.expiresDate, single.expiresDate, signed.expiresDate))
        #expect(agree(purchase.webOrderLineItemID, single.webOrderLineItemID, signed.webOrderLineItemID))
        #expect(agree(purchase.ownershipType, single.ownershipType, signed.ownershipType))
        #expect(agree(purchase.productType, signed.productType))
        #expect(agree(purchase.offerIdentifier, signed.offerIdentifier))
        #expect(agree(purchase.productAppleID, single.productAppleID))
        #expect(agree(receipt.bundleID, single.bundleID, signed.bundleID))
        #expect(agree(receipt.applicationVersion, single.applicationVersion))
        #expect(agree(receipt.environment, single.environment, signed.environment))
    }

    @Test("3 The app reads the same from an app receipt and an app transaction")
    func app() throws {
        var template = MintedWorld.receipt()
        template.applicationVersion = "7"
        template.adamID = 1_234_567_890
        var modern = MintedWorld.appTransaction()
        modern.appAppleID = 1_234_567_890
        guard case .appReceipt(let receipt) = try verified(try MintedWorld.mint(template)),
            case .appTransaction(let signed) = try verified(try MintedWorld.mint(modern))
        else { throw CorpusError.empty }
        #expect(agree(receipt.bundleID, signed.bundleID))
        #expect(agree(receipt.appAppleID, signed.appAppleID))
        #expect(agree(receipt.applicationVersion, signed.applicationVersion))
        #expect(agree(receipt.creationDate, signed.creationDate))
    }

    @Test("3 A number of a receipt without a known meaning stays readable")
    func unknownNumbers() throws {
        let kinds: [ProductType?] = try (UInt64(0)...5).map { number in
            var purchase = MintedWorld.subscription()
            purchase.productType = .init(rawValue: number)
            purchase.ownershipType = .init(rawValue: number)
            var template = MintedWorld.receipt()
            template.purchases = [purchase]
            guard case .appReceipt(let receipt) = try verified(try MintedWorld.mint(template)) else {
                throw CorpusError.empty
            }
            let expected: OwnershipType =
                switch number {
                case 0: .purchased
                case 1: .familyShared
                default: OwnershipType(rawValue: "\(number)")
                }
            #expect(receipt.inAppPurchases.first?.ownershipType == expected)
            return receipt.inAppPurchases.first?.productType
        }
        #expect(
            kinds == [
                .nonConsumable, .consumable, .nonRenewingSubscription, .autoRenewableSubscription, .freeSubscription,
                ProductType(rawValue: "5"),
            ])
    }

    @Test(
        "3 An account token is a UUID; other text stays among the other claims",
        arguments: [
            (token, true), (token.uppercased(), true), ("", false), ("alice", false), (" " + token, false),
            (token + " ", false), ("{\(token)}", false), (token.replacingOccurrences(of: "-", with: ""), false),
            ("7edea87d-98f0-42d0-9682-49ca81022f7g", false), ("7edea87d-98f0-42d0-9682-49ca81022f7", false),
            ("+edea87d-98f0-42d0-9682-49ca81022f73", false), ("7edea87d-98f0-42d0-9682 49ca81022f73", false),
        ])
    func accountToken(_ text: String, _ isUUID: Bool) throws {
        var transaction = MintedWorld.transaction()
        transaction.appAccountToken = text
        var renewal = MintedWorld.renewalInfo()
        renewal.appAccountToken = text
        guard case .signedTransaction(let bought) = try verified(try MintedWorld.mint(transaction)),
            case .signedRenewalInfo(let renews) = try verified(try MintedWorld.mint(renewal))
        else { throw CorpusError.empty }
        let token = isUUID ? UUID(uuidString: Self.token) : nil
        #expect(bought.appAccountToken == token && renews.appAccountToken == token)
        let kept: JSONValue? = isUUID ? nil : .string(text)
        #expect(bought.otherClaims["appAccountToken"] == kept && renews.otherClaims["appAccountToken"] == kept)
    }

    @Test("3 Data, an array and text are verified alike")
    func data() throws {
        let anchors = try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) }
        let verifier = PurchaseVerifier(anchors: anchors)
        for bytes in [try MintedWorld.mint(), try MintedWorld.mint(MintedWorld.transaction())] {
            #expect(try verifier.verify(Data(bytes), policies: []) == verifier.verify(bytes, policies: []))
        }
    }
}
