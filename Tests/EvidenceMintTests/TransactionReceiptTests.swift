import EvidenceMint
import Foundation
import TestSupport
import Testing

@Suite("A transaction receipt")
struct TransactionReceiptTests {
    @Test(
        "has the signature field and the leaf of its version",
        arguments: [(TransactionReceiptVersion.two, 128), (.three, 256), (.four, 256)])
    func versions(version: TransactionReceiptVersion, length: Int) throws {
        let bytes = try encode(version)
        let receipt = try ReadTransactionReceipt(bytes, signatureLength: length)
        #expect(receipt.version == version.rawValue)
        #expect(receipt.purchaseInfo == World.transactionReceipt.purchaseInfo())
        #expect(try encode(version) == bytes, "the same parameters make the same bytes")

        let leaf = try ASN1Element(receipt.certificate)
        let modulus = try ASN1Element(Array(try leaf.descend(0, 6, 1).content.dropFirst())).descend(0)
        #expect(modulus.content.drop { $0 == 0 }.count == length)
        let store = try World.store()
        let issuer = version == .two ? store.transactionReceipts.storeIntermediate : store.receipts.intermediate
        #expect(try leaf.descend(0, 3).encoded == issuer.subject.der)
        #expect((version == .three) == (receipt.certificate == store.receipts.leaf.certificate))
    }

    @Test("has Apple's layout: one line per entry, a tab before it, nothing after the brace")
    func layout() throws {
        let text = String(decoding: try encode(.three), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 7)
        #expect(lines.first == "{")
        #expect(lines.last == "}")
        let starts = ["signature", "purchase-info", "environment", "pod", "signing-status"]
        for (line, key) in zip(lines.dropFirst(), starts) {
            #expect(line.hasPrefix("\t\"\(key)\" = \""))
            #expect(line.hasSuffix("\";"))
        }
        #expect(lines[3] == "\t\"environment\" = \"Sandbox\";")

        let production = TransactionReceiptTemplate(
            purchase: World.coins, bundleID: World.bundleID, environment: "Production")
        let encoder = TransactionReceiptEncoder(authority: try World.store())
        let outer = try PropertyListText(try encoder.encode(production, version: .four))
        #expect(outer.entries.map(\.key) == ["signature", "purchase-info", "pod", "signing-status"])
    }

    @Test("states each date in UTC, in milliseconds and in Los Angeles time with daylight saving")
    func dates() throws {
        var template = TransactionReceiptTemplate()
        template.purchaseDate = Date(timeIntervalSince1970: 1_331_459_999.868)
        template.originalPurchaseDate = Date(timeIntervalSince1970: 1_331_460_000)
        template.expiresDate = Date(timeIntervalSince1970: 1_351_998_000)
        let list = try PropertyListText(template.purchaseInfo())
        #expect(list[key: "purchase-date"] == "2012-03-11 09:59:59 Etc/GMT")
        #expect(list[key: "purchase-date-ms"] == "1331459999868")
        #expect(list[key: "purchase-date-pst"] == "2012-03-11 01:59:59 America/Los_Angeles")
        #expect(list[key: "original-purchase-date-pst"] == "2012-03-11 03:00:00 America/Los_Angeles")
        #expect(list[key: "expires-date"] == "1351998000000")
        #expect(list[key: "expires-date-formatted"] == "2012-11-04 03:00:00 Etc/GMT")
        #expect(list[key: "expires-date-formatted-pst"] == "2012-11-03 20:00:00 America/Los_Angeles")
    }

    @Test("leaves out nil and omitted keys, and writes extra keys last")
    func freedom() throws {
        var template = World.transactionReceipt
        template.quantity = nil
        template.omitted = ["bid", "purchase-date-ms"]
        template.extraEntries = [.init("bid", "a \"quoted\" \\ one")]
        let text = String(decoding: template.purchaseInfo(), as: UTF8.self)
        #expect(!text.contains("quantity"))
        #expect(!text.contains("\"purchase-date-ms\""))
        #expect(text.hasSuffix("\t\"bid\" = \"a \\\"quoted\\\" \\\\ one\";\n}"))
    }

    @Test(
        "filled with the values of a genuine one has the same purchase-info, byte for byte",
        .enabled(if: Corpus.isPresent, Comment(rawValue: Corpus.absence)))
    func corpus() throws {
        let items = try Corpus.items("transaction-receipt").filter { $0.file.hasPrefix("transaction-receipts/") }
        #expect(items.count >= 10)
        for item in items {
            let base64 = String(decoding: try item.bytes(), as: UTF8.self).trimmingCharacters(
                in: .whitespacesAndNewlines)
            let list = try PropertyListText([UInt8](try #require(Data(base64Encoded: base64))))
            let genuine = try list.bytes("purchase-info")
            let template = try Self.template(PropertyListText(genuine))
            #expect(
                String(decoding: template.purchaseInfo(), as: UTF8.self) == String(decoding: genuine, as: UTF8.self),
                "\(item.file)")
        }
    }

    /// The values of a genuine receipt. Of the forms of a date, only the milliseconds are read.
    private static func template(_ list: PropertyListText) throws -> TransactionReceiptTemplate {
        func date(_ key: String) throws -> Date? {
            try list[key: key].map { Date(timeIntervalSince1970: try #require(Double($0)) / 1000) }
        }
        var template = TransactionReceiptTemplate()
        template.transactionID = list[key: "transaction-id"]
        template.originalTransactionID = list[key: "original-transaction-id"]
        template.productID = list[key: "product-id"]
        template.bundleID = list[key: "bid"]
        template.bundleVersion = list[key: "bvrs"]
        template.quantity = list[key: "quantity"].flatMap { UInt64($0) }
        template.purchaseDate = try date("purchase-date-ms")
        template.originalPurchaseDate = try date("original-purchase-date-ms")
        template.expiresDate = try date("expires-date")
        template.itemID = list[key: "item-id"].flatMap { UInt64($0) }
        template.appItemID = list[key: "app-item-id"].flatMap { UInt64($0) }
        template.versionExternalIdentifier = list[key: "version-external-identifier"].flatMap { UInt64($0) }
        template.uniqueIdentifier = list[key: "unique-identifier"]
        template.uniqueVendorIdentifier = list[key: "unique-vendor-identifier"]
        template.webOrderLineItemID = list[key: "web-order-line-item-id"]
        template.subscriptionGroupIdentifier = list[key: "subscription-group-identifier"]
        template.isTrialPeriod = list[key: "is-trial-period"].map { $0 == "true" }
        template.isInIntroOfferPeriod = list[key: "is-in-intro-offer-period"].map { $0 == "true" }
        template.inAppOwnershipType = list[key: "in-app-ownership-type"]
        return template
    }

    private func encode(_ version: TransactionReceiptVersion) throws -> [UInt8] {
        try TransactionReceiptEncoder(authority: try World.store()).encode(World.transactionReceipt, version: version)
    }
}

@Suite("A fault of a transaction receipt")
struct TransactionReceiptFaultTests {
    @Test("changes the bytes, in any version", arguments: TransactionReceiptFault.allCases)
    func changesBytes(fault: TransactionReceiptFault) throws {
        let encoder = TransactionReceiptEncoder(authority: try World.store())
        for version in TransactionReceiptVersion.allCases {
            for template in [World.transactionReceipt, TransactionReceiptTemplate()] {
                // An absent attribute cannot be removed.
                guard template.bundleID != nil || !Self.missing.contains(fault) else { continue }
                #expect(
                    try encoder.encode(template, version: version, fault: fault)
                        != encoder.encode(template, version: version))
            }
        }
    }

    @Test("has a lower-case name with hyphens, and an explanation", arguments: TransactionReceiptFault.allCases)
    func names(fault: TransactionReceiptFault) {
        #expect(fault.rawValue.allSatisfy { $0 == "-" || ("a"..."z").contains($0) })
        #expect(TransactionReceiptFault(rawValue: fault.rawValue) == fault)
        #expect(fault.explanation.hasSuffix("."))
    }

    @Test("flips one bit, and leaves a list that still parses")
    func flips() throws {
        let encoder = TransactionReceiptEncoder(authority: try World.store())
        for version in TransactionReceiptVersion.allCases {
            let length = version == .two ? 128 : 256
            func read(_ fault: TransactionReceiptFault?) throws -> ReadTransactionReceipt {
                try ReadTransactionReceipt(
                    try encoder.encode(World.transactionReceipt, version: version, fault: fault),
                    signatureLength: length)
            }
            let good = try read(nil)
            let content = try read(.flippedPurchaseInfoByte)
            #expect(Self.flippedBits(good.purchaseInfo, content.purchaseInfo) == 1)
            #expect(content.signature == good.signature)
            #expect(try PropertyListText(content.purchaseInfo)[key: "product-id"] == "coinr")
            let signature = try read(.flippedSignatureByte)
            #expect(Self.flippedBits(good.signature, signature.signature) == 1)
            #expect(signature.purchaseInfo == good.purchaseInfo)
        }
    }

    @Test("of the content changes only the content")
    func content() throws {
        let good = try keys(nil)
        #expect(try keys(.missingBundleID) == good.filter { $0 != "bid" })
        #expect(try keys(.missingProductID) == good.filter { $0 != "product-id" })
        #expect(try keys(.missingTransactionID) == good.filter { $0 != "transaction-id" })
        #expect(try keys(.missingPurchaseDate) == good.filter { !$0.hasPrefix("purchase-date") })
        #expect(try keys(.malformedDate).sorted() == good.sorted())
        #expect(try keys(.duplicateKey) == good + ["product-id"])
        #expect(try keys(.wrongBundleID) == good)
    }

    @Test(
        "is a fault of the content or of the certificate if OpenSSL accepts the signature",
        .enabled(if: OpenSSL.isInstalled, OpenSSL.absence), arguments: TransactionReceiptVersion.allCases)
    func signatures(version: TransactionReceiptVersion) throws {
        let store = try World.store()
        let encoder = TransactionReceiptEncoder(authority: store)
        let broken: Set<TransactionReceiptFault> = [
            .foreignSignature, .wrongDigest, .flippedSignatureByte, .flippedPurchaseInfoByte, .editedPurchaseInfo,
            .swappedVersion,
        ]
        // Those without a field that has the usual form.
        let unreadable: Set<TransactionReceiptFault> = [
            .wrongKeySize, .wrongCertificateLength, .trailingSignatureBytes, .truncatedSignature, .missingSignature,
            .missingPurchaseInfo, .duplicatePurchaseInfo, .truncated, .trailingBytes, .deeplyNested, .oversized,
        ]
        let faults = [nil] + TransactionReceiptFault.allCases.filter { !unreadable.contains($0) }.map(Optional.some)
        for fault in faults {
            let bytes = try encoder.encode(World.transactionReceipt, version: version, fault: fault)
            let receipt = try ReadTransactionReceipt(bytes, signatureLength: version == .two ? 128 : 256)
            let verdict = try OpenSSL.verify(
                receipt.signature, of: receipt.signedBytes, by: receipt.certificate,
                digest: version == .four ? "sha256" : "sha1")
            #expect(verdict.isGood == !(fault.map(broken.contains) ?? false), "\(String(describing: fault))")

            let chain = try OpenSSL.verify(
                receipt.certificate, below: [store.transactionReceiptIssuer(version).certificate],
                anchor: store.receipts.root, at: World.creationDate)
            let words = fault.flatMap(Self.complaint)
            #expect(chain.isGood == (words == nil), "\(String(describing: fault)) \(chain.text)")
            #expect(words.map(chain.text.contains) ?? true, "\(String(describing: fault)) \(chain.text)")
        }
    }

    private static func complaint(_ fault: TransactionReceiptFault) -> String? {
        switch fault {
        case .wrongRoot, .ownCertificate: "unable to get local issuer certificate"
        case .expiredLeaf: "certificate has expired"
        case .leafNotYetValid: "certificate is not yet valid"
        default: nil
        }
    }

    private static let missing: Set<TransactionReceiptFault> = [
        .missingBundleID, .missingProductID, .missingTransactionID, .missingPurchaseDate,
    ]

    private static func flippedBits(_ first: [UInt8], _ second: [UInt8]) -> Int {
        #expect(first.count == second.count)
        return zip(first, second).reduce(0) { $0 + ($1.0 ^ $1.1).nonzeroBitCount }
    }

    private func keys(_ fault: TransactionReceiptFault?) throws -> [String] {
        let bytes = try TransactionReceiptEncoder(authority: try World.store())
            .encode(World.transactionReceipt, version: .three, fault: fault)
        return try PropertyListText(ReadTransactionReceipt(bytes, signatureLength: 256).purchaseInfo).entries.map(\.key)
    }
}
