public import EvidenceMint
public import Foundation
public import PurchaseVerification

/// Transaction receipts and signed data of a test store, in every form that the core accepts and with every fault of
/// the simulator.
public struct EvidenceSamples: Sendable {
    public let authority: AppStoreAuthority
    /// Both roots, and the intermediates that issue the leaves of transaction receipts.
    public let trust: Trust
    /// The intermediates alone.
    public let issuers: [[UInt8]]

    /// - Parameter folder: the folder of the keys, so that an input reproduces in every run; `nil` makes new keys.
    public init(folder: URL? = nil) throws {
        authority = try folder.map { try AppStoreAuthority(folder: $0.appending(path: "store")) } ?? AppStoreAuthority()
        issuers = [
            authority.receipts.intermediate.certificate, authority.transactionReceipts.storeIntermediate.certificate,
        ]
        trust = try Trust(
            certificates: [authority.receipts.root.certificate, authority.signedPayload.root.certificate] + issuers)
    }

    private static let purchase = PurchaseTemplate.subscription(
        productID: "com.example.app.monthly", transactionID: "2000000000000001",
        originalTransactionID: "2000000000000000", purchaseDate: MintedSamples.moment,
        originalPurchaseDate: MintedSamples.moment.addingTimeInterval(-2_592_000),
        expiresDate: MintedSamples.moment.addingTimeInterval(2_592_000))

    private static let transaction = SignedTransactionTemplate(
        purchase: purchase, bundleID: "com.example.app",
        deviceID: UUID(uuidString: "6B29FC40-CA47-1067-B31D-00DD010662DA"))

    /// One of each kind, by name.
    public static let templates: [(name: String, template: any SignedPayloadTemplate)] = [
        ("transaction", transaction),
        ("renewal info", RenewalInfoTemplate(transaction: transaction)),
        (
            "app transaction",
            AppTransactionTemplate(bundleID: "com.example.app", creationDate: MintedSamples.moment)
        ),
        (
            "notification",
            NotificationTemplate(
                notificationType: "DID_RENEW", transaction: transaction,
                renewalInfo: RenewalInfoTemplate(transaction: transaction))
        ),
        ("test notification", NotificationTemplate.test(bundleID: "com.example.app", signedDate: MintedSamples.moment)),
    ]

    /// One of each version, without an encoding.
    public func transactionReceipts() throws -> [Sample] {
        try EvidenceMint.TransactionReceiptVersion.allCases.map { version in
            sample("version \(version.rawValue)", try receipt(version), isGenuine: true)
        }
    }

    /// One of each kind of signed data.
    public func signedPayload() throws -> [Sample] {
        let encoder = SignedPayloadEncoder(authority: authority)
        return try Self.templates.map { name, template in
            sample(name, Array(try encoder.encode(template).utf8), isGenuine: true)
        }
    }

    /// Transaction receipts with every fault, except large ones.
    public func faultyTransactionReceipts() throws -> [Sample] {
        try TransactionReceiptFault.allCases.filter { $0 != .oversized }.flatMap { fault in
            try EvidenceMint.TransactionReceiptVersion.allCases.map { version in
                sample("version \(version.rawValue), \(fault.rawValue)", try receipt(version, fault), isGenuine: false)
            }
        }
    }

    /// Signed data with every fault, except large ones.
    public func faultySignedPayload() throws -> [Sample] {
        let encoder = SignedPayloadEncoder(authority: authority)
        return try Self.templates.flatMap { name, template in
            try SignedPayloadFault.allCases.filter { $0 != .oversized && $0.applies(to: template) }.map { fault in
                let jws = try encoder.encode(template, fault: fault)
                return sample("\(name), \(fault.rawValue)", Array(jws.utf8), isGenuine: false)
            }
        }
    }

    private func receipt(
        _ version: EvidenceMint.TransactionReceiptVersion, _ fault: TransactionReceiptFault? = nil
    ) throws -> [UInt8] {
        let template = TransactionReceiptTemplate(purchase: Self.purchase, bundleID: "com.example.app")
        return try TransactionReceiptEncoder(authority: authority).encode(template, version: version, fault: fault)
    }

    private func sample(_ name: String, _ evidence: [UInt8], isGenuine: Bool) -> Sample {
        Sample("minted, \(name)", evidence, trust, isGenuine: isGenuine)
    }
}

extension EvidenceInspection {
    /// The app receipt that could be read.
    public var receipt: UnverifiedAppReceipt? {
        if case .appReceipt(let receipt) = content { return receipt }
        return nil
    }

    /// The transaction receipt that could be read.
    public var transactionReceipt: UnverifiedTransactionReceipt? {
        if case .transactionReceipt(let receipt, _) = content { return receipt }
        return nil
    }

    /// The first failure among these checks. A check that could not be made, without a failure before it, also counts
    /// as a refusal.
    public func refusal(among relevant: Set<String>) -> ReasonCode? {
        var passed = 0
        for check in checks where relevant.contains(check.name) {
            switch check.outcome {
            case .failed(let error): return error.code
            case .notPossible: break
            case .passed: passed += 1
            }
        }
        // Every check must have been made.
        return passed == relevant.count ? nil : .evidenceUnsupported
    }
}
