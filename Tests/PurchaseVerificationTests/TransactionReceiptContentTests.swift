import EvidenceMint
import Foundation
import PurchaseVerification
import TestSupport
import Testing

@Suite("The content of a transaction receipt")
struct TransactionReceiptContentTests {
    private func verifier() throws -> PurchaseVerifier {
        PurchaseVerifier(anchors: try MintedWorld.trustedCertificates().map { try TrustAnchor(certificate: $0) })
    }

    private func verified(_ bytes: [UInt8], _ policies: [any PurchasePolicy] = []) throws -> TransactionReceipt {
        guard case .transactionReceipt(let receipt) = try verifier().verify(bytes, policies: policies) else {
            throw CorpusError.empty
        }
        return receipt
    }

    @Test("Every key is read into its type", arguments: MintedVersion.allCases)
    func keys(_ version: MintedVersion) throws {
        var template = MintedWorld.transactionReceipt(environment: "Production")
        template.quantity = 3
        template.cancellationDate = MintedWorld.moment.addingTimeInterval(30)
        template.isTrialPeriod = true
        template.isInIntroOfferPeriod = false
        template.inAppOwnershipType = "FAMILY_SHARED"
        template.webOrderLineItemID = "500000000000003"
        template.extraEntries = [.init("later-key", "later"), .init("empty", "")]
        let receipt = try verified(try MintedWorld.mint(template, version))
        #expect(receipt.version.rawValue == version.rawValue)
        #expect(receipt.environment == .production)
        #expect(receipt.transactionID == "430000000000004")
        #expect(receipt.originalTransactionID == "2000000000000003")
        #expect(receipt.productID == "com.example.app.monthly")
        #expect(receipt.bundleID == "com.example.app")
        #expect(receipt.applicationVersion == "7")
        #expect(receipt.quantity == 3)
        #expect(receipt.purchaseDate == AppStoreTime(MintedWorld.moment))
        #expect(receipt.originalPurchaseDate == template.originalPurchaseDate.map { AppStoreTime($0) })
        #expect(receipt.expiresDate == template.expiresDate.map { AppStoreTime($0) })
        #expect(receipt.cancellationDate == AppStoreTime(MintedWorld.moment.addingTimeInterval(30)))
        #expect(receipt.productAppleID == template.itemID)
        #expect(receipt.appAppleID == 1_234_567_890)
        #expect(receipt.versionExternalIdentifier == 870_000_001)
        #expect(receipt.webOrderLineItemID == "500000000000003")
        #expect(receipt.subscriptionGroupIdentifier == "20749162")
        #expect(receipt.uniqueIdentifier == template.uniqueIdentifier)
        #expect(receipt.uniqueVendorIdentifier == MintedWorld.device.uuidString)
        #expect(receipt.isTrialPeriod == true)
        #expect(receipt.isInIntroOfferPeriod == false)
        #expect(receipt.ownershipType == .familyShared)
        #expect(receipt.attributes.contains { $0.key == "later-key" && $0.value == "later" })
        #expect(receipt.attributes.contains { $0.key == "empty" && $0.value.isEmpty })
    }

    @Test("Milliseconds, escapes and non-ASCII text are preserved")
    func text() throws {
        var template = MintedWorld.transactionReceipt()
        template.purchaseDate = MintedWorld.moment.addingTimeInterval(0.131)
        template.productID = "münzen.コイン \"\\"
        let receipt = try verified(try MintedWorld.mint(template, .four))
        #expect(receipt.purchaseDate.millisecondsSince1970 == 1_700_000_000_131)
        #expect(receipt.productID == "münzen.コイン \"\\")
        let escaped = String(decoding: MintedWorld.transactionReceipt().purchaseInfo(), as: UTF8.self)
            .replacingOccurrences(of: "com.example.app.monthly", with: #"a\nb\tc\rd\U00fc\Ud83d\Ude00"#)
        #expect(
            try verified(HandmadeTransactionReceipt(.two, purchaseInfo: escaped).bytes()).productID == "a\nb\tc\rdü😀")
    }

    @Test("Base64 around it, a line break after it and a byte order mark before it have no effect")
    func encodings() throws {
        let bytes = try MintedWorld.mint(MintedWorld.transactionReceipt(), .three)
        let receipt = try verified(bytes)
        #expect(try verified(Array(Data(bytes).base64EncodedString().utf8)) == receipt)
        #expect(try verified(bytes + [0x0D, 0x0A]) == receipt)
        #expect(try verified([0xEF, 0xBB, 0xBF] + bytes) == receipt)
    }

    @Test("The transaction id decides, even against the unsigned environment", arguments: MintedVersion.allCases)
    func sandbox(_ version: MintedVersion) throws {
        var receipt = try HandmadeTransactionReceipt(version)
        #expect(try verified(receipt.bytes()).environment == .sandbox)
        receipt.unsigned = ""
        #expect(try verified(receipt.bytes()).environment == .sandbox)
        receipt.unsigned = "\"environment\" = \"Production\";"
        #expect(try verified(receipt.bytes()).environment == .sandbox)
        receipt.unsigned = "\"environment\" = \"Elsewhere\";"
        #expect(try verified(receipt.bytes()).environment == .other("Elsewhere"))
        // Claiming that a paid purchase was unpaid gives no advantage.
        var paid = try HandmadeTransactionReceipt(version)
        paid.purchaseInfo = MintedWorld.transactionReceipt(environment: "Production").purchaseInfo()
        #expect(try verified(paid.bytes()).environment == .sandbox)
        paid.unsigned = ""
        #expect(try verified(paid.bytes()).environment == .production)
    }

    @Test(
        "The transaction id decides from June 2012 on",
        arguments: [(1_338_508_799.0, AppStoreEnvironment.production), (1_338_508_800.0, .sandbox)])
    func firstStatement(seconds: Double, environment: AppStoreEnvironment) throws {
        var template = MintedWorld.transactionReceipt()
        template.purchaseDate = Date(timeIntervalSince1970: seconds)
        template.environment = nil
        #expect(try verified(try MintedWorld.mint(template, .two)).environment == environment)
    }

    @Test(
        "Only ids of sixteen digits that begin with 1 or 2 are the sandbox's",
        arguments: [
            ("1000000000000001", true), ("2000000000000001", true), ("100000000000001", false),
            ("10000000000000001", false), ("3000000000000001", false), ("1000001000000001", true),
            ("2000001042009045", true), ("2000001209105682", true), ("2999999999999999", true),
            ("200000104200904", false), ("20000010420090451", false), ("0000001042009045", false),
            ("３000001042009045", false), ("２000001042009045", false), ("-200000104200904", false),
            ("100000000000000a", false), ("430002225057302", false),
        ])
    func sandboxNumbers(number: String, isSandbox: Bool) throws {
        var template = MintedWorld.transactionReceipt()
        template.transactionID = number
        template.environment = nil
        let receipt = try verified(try MintedWorld.mint(template, .three))
        #expect(receipt.environment == (isSandbox ? .sandbox : .production))
    }

    @Test("It is for its device, by either identifier, and for no other")
    func device() throws {
        let bytes = try MintedWorld.mint(MintedWorld.transactionReceipt(), .four)
        let vendor = DeviceIdentifier(identifierForVendor: MintedWorld.device)
        _ = try verified(bytes, [DeviceHashPolicy(vendor)])
        let udid = try #require(MintedWorld.transactionReceipt().uniqueIdentifier)
        _ = try verified(bytes, [DeviceHashPolicy(try #require(DeviceIdentifier(udid)))])
        let other = DeviceIdentifier(bytes: vendor.bytes.map { $0 ^ 1 })
        #expect(throws: VerificationError.self) { try verified(bytes, [DeviceHashPolicy(other)]) }
    }

    @Test("A fresh, unseen transaction with the facts that the client states is accepted")
    func policies() throws {
        let bytes = try MintedWorld.mint(MintedWorld.transactionReceipt(environment: "Production"), .four)
        let moment = AppStoreTime(MintedWorld.moment)
        _ = try verified(
            bytes,
            [
                BundleIDPolicy("com.example.app"), ApplicationVersionPolicy("7"), AppAppleIDPolicy(1_234_567_890),
                FreshnessPolicy(at: moment, limit: 0), UnseenTransactionPolicy { $0 != "430000000000004" },
                TransactionPolicy(
                    TransactionFacts(
                        transactionID: "430000000000004", originalTransactionID: "2000000000000003",
                        productID: "com.example.app.monthly", quantity: 1, purchaseDate: moment)),
            ])
    }
}
