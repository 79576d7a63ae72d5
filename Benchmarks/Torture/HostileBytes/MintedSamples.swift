public import EvidenceMint
public import Foundation
public import PurchaseVerification

/// Receipts of a test authority, in every form that the core accepts and with every fault of the simulator.
public struct MintedSamples: Sendable {
    public let authority: CertificateAuthority
    public let xcodeSigner: XcodeSigner
    public let trust: Trust
    public let xcodeTrust: Trust

    /// The constant time of everything in them.
    public static let moment = Date(timeIntervalSince1970: 1_700_000_000)

    /// - Parameter folder: the folder of the keys, so that an input reproduces in every run; `nil` makes new keys.
    public init(folder: URL? = nil) throws {
        authority =
            try folder.map { try CertificateAuthority(folder: $0.appending(path: "authority")) }
            ?? CertificateAuthority()
        xcodeSigner = try folder.map { try XcodeSigner(folder: $0.appending(path: "xcode")) } ?? XcodeSigner()
        trust = try Trust(certificates: [authority.root.certificate])
        xcodeTrust = try Trust(certificates: [xcodeSigner.identity.certificate])
    }

    /// A sandbox receipt with purchases of every kind, over and over.
    public static func template(purchases count: Int = 3) -> AppReceiptTemplate {
        .sandbox(
            bundleID: "com.example.app", creationDate: moment, purchases: (0..<count).map { purchase(number: $0) })
    }

    private static func purchase(number: Int) -> PurchaseTemplate {
        let transactionID = "\(2_000_000_000_000_001 + number)"
        return switch number % 3 {
        case 0:
            .consumable(
                productID: "com.example.app.coins", transactionID: transactionID, purchaseDate: moment, quantity: 3)
        case 1:
            .nonConsumable(productID: "com.example.app.pro", transactionID: transactionID, purchaseDate: moment)
        default:
            .subscription(
                productID: "com.example.app.monthly", transactionID: transactionID,
                originalTransactionID: "2000000000000000", purchaseDate: moment,
                originalPurchaseDate: moment.addingTimeInterval(-2_592_000),
                expiresDate: moment.addingTimeInterval(2_592_000))
        }
    }

    /// Signs a receipt with the authority.
    public func mint(
        _ template: AppReceiptTemplate = template(), fault: ReceiptFault? = nil,
        _ change: (inout SigningOptions) -> Void = { _ in }
    ) throws -> [UInt8] {
        var signing = SigningOptions()
        change(&signing)
        return try AppReceiptEncoder(authority: authority).encode(template, signing: signing, fault: fault)
    }

    /// Samples that verify.
    public func genuine() throws -> [Sample] {
        try signatureForms() + encodings() + contents()
    }

    private func signatureForms() throws -> [Sample] {
        try ReceiptDigest.allCases.flatMap { digest in
            try [
                sample("\(digest)") { $0.digest = digest },
                sample("\(digest), attributes") {
                    $0.digest = digest
                    $0.signedAttributes = true
                },
                sample("\(digest) with RSA") {
                    $0.digest = digest
                    $0.signatureAlgorithm = .digestWithRSA
                },
            ]
        }
    }

    private func encodings() throws -> [Sample] {
        var xcode = AppReceiptTemplate.xcode(
            bundleID: "com.example.app", creationDate: Self.moment, purchases: Self.template().purchases)
        let plain = try xcodeSigner.encode(xcode)
        xcode.dateStyle = .numericOffset(minutes: -210)
        return try [
            sample("BER") { $0.encoding = .xcodeBER },
            sample("BER in pieces") {
                $0.encoding = .xcodeBER
                $0.pieceLength = 100
            },
            sample("wrapped twice") { $0.wrapsPayloadTwice = true },
            sample("without root") { $0.certificates = [.leaf, .intermediate] },
            sample("certificates in another order") { $0.certificates = [.root, .intermediate, .leaf] },
            Sample("minted as Xcode", plain, xcodeTrust, isGenuine: true),
            Sample("minted as Xcode, zone offset", try xcodeSigner.encode(xcode), xcodeTrust, isGenuine: true),
        ]
    }

    private func contents() throws -> [Sample] {
        var mac = AppReceiptTemplate.mac(bundleID: "com.example.app", creationDate: Self.moment)
        mac.dateStyle = .milliseconds
        return try [
            sample("no purchases", Self.template(purchases: 0)),
            sample("20 purchases", Self.template(purchases: 20)),
            sample("Mac", mac),
            sample("production", .production(bundleID: "com.example.app", creationDate: Self.moment)),
            sample(
                "volume purchase",
                .volumePurchase(
                    bundleID: "com.example.app", creationDate: Self.moment,
                    expirationDate: Self.moment.addingTimeInterval(86_400))),
        ]
    }

    /// Samples that must be refused: one of every fault, and each also with signed attributes.
    public func faulty() throws -> [Sample] {
        try ReceiptFault.allCases.flatMap { fault in
            try [false, true].map { hasAttributes in
                let bytes = try mint(fault: fault) { $0.signedAttributes = hasAttributes }
                let suffix = hasAttributes ? ", attributes" : ""
                return Sample("minted, \(fault.rawValue)\(suffix)", bytes, trust, isGenuine: false)
            }
        }
    }

    private func sample(
        _ name: String, _ template: AppReceiptTemplate = template(), _ change: (inout SigningOptions) -> Void = { _ in }
    ) throws -> Sample {
        Sample("minted, \(name)", try mint(template, change), trust, isGenuine: true)
    }
}

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
