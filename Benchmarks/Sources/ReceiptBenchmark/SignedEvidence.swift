import EvidenceMint
import Foundation
import PurchaseVerification

/// Evidence to measure, other than an app receipt, and the trust needed to accept it.
struct SignedEvidence {
    /// `transaction`, `notification`, `receipt-2`, ….
    let name: String
    /// In the form that a client sends: a compact JWS, or base64.
    let evidence: [UInt8]
    /// The certificates to trust besides Apple's roots, in DER; empty if Apple signed the evidence.
    let trusted: [[UInt8]]
    let parts: SignedEvidenceParts

    init(name: String, evidence: [UInt8], trusted: [[UInt8]] = []) throws {
        self.name = name
        self.evidence = evidence
        self.trusted = trusted
        parts = try SignedEvidenceParts(evidence)
    }

    /// The description in the tables.
    var title: String { "\(name): \(parts.words), \(evidence.count) bytes" }

    /// The names of the kinds that are measured.
    static let names = [
        "transaction", "renewal", "app-transaction", "notification", "receipt-2", "receipt-3", "receipt-4",
    ]

    /// Real evidence of the corpus: of each kind of signed data the longest, which has the most claims.
    static func real(_ corpus: URL) throws -> [SignedEvidence] {
        let items = try JSONDecoder().decode(
            Manifest.self, from: Data(contentsOf: corpus.appending(path: "MANIFEST.json"))
        ).items.filter { $0.expected?.verdict?.hasPrefix("genuine") == true }
        func pick(_ name: String, _ kind: String, version: Int? = nil) throws -> SignedEvidence {
            let fitting = items.filter { $0.kind == kind && $0.version == version }
            guard let item = fitting.max(by: { ($0.bytes, $0.file) < ($1.bytes, $1.file) }) else {
                throw BenchmarkError("the corpus holds no \(kind)")
            }
            let text = try Data(contentsOf: corpus.appending(path: item.file))
            return try SignedEvidence(name: name, evidence: text.filter { $0 > 0x20 })
        }
        return [
            try pick("transaction", "jws-transaction"), try pick("renewal", "jws-renewalInfo"),
            try pick("app-transaction", "jws-appTransaction"), try pick("notification", "jws-notification"),
            try pick("receipt-2", "transaction-receipt", version: 2),
            try pick("receipt-3", "transaction-receipt", version: 3),
            try pick("receipt-4", "transaction-receipt", version: 4),
        ]
    }

    /// The same kinds, minted.
    static func minted() throws -> [SignedEvidence] {
        let authority = try AppStoreAuthority()
        let moment = Date(timeIntervalSince1970: 1_735_689_600)
        let purchase = PurchaseTemplate.subscription(
            productID: "com.example.app.monthly", transactionID: "2000000000000002",
            originalTransactionID: "2000000000000001", purchaseDate: moment,
            originalPurchaseDate: moment.addingTimeInterval(-2_592_000),
            expiresDate: moment.addingTimeInterval(2_592_000))
        let transaction = SignedTransactionTemplate(purchase: purchase, bundleID: "com.example.app")
        let renewalInfo = RenewalInfoTemplate(transaction: transaction)
        let encoder = SignedPayloadEncoder(authority: authority)
        let root = [authority.signedPayload.root.certificate]
        let signed = try [
            ("transaction", encoder.encode(transaction)), ("renewal", encoder.encode(renewalInfo)),
            (
                "app-transaction",
                encoder.encode(AppTransactionTemplate(bundleID: "com.example.app", creationDate: moment))
            ),
            (
                "notification",
                encoder.encode(
                    NotificationTemplate(
                        notificationType: "DID_RENEW", transaction: transaction, renewalInfo: renewalInfo))
            ),
        ].map { try SignedEvidence(name: $0, evidence: Array($1.utf8), trusted: root) }
        let issuers = [
            authority.receipts.intermediate.certificate, authority.transactionReceipts.storeIntermediate.certificate,
        ]
        let template = TransactionReceiptTemplate(purchase: purchase, bundleID: "com.example.app")
        let receipts = try EvidenceMint.TransactionReceiptVersion.allCases.map { version in
            let text = try TransactionReceiptEncoder(authority: authority).encodeBase64(template, version: version)
            return try SignedEvidence(
                name: "receipt-\(version.rawValue)", evidence: Array(text.utf8), trusted: issuers)
        }
        return signed + receipts
    }

    /// The evidence that `write` has put into a folder.
    static func read(from folder: URL) throws -> [SignedEvidence] {
        try names.map { name in
            var trusted: [[UInt8]] = []
            while true {
                let file = folder.appending(path: "\(name).trusted-\(trusted.count).der")
                guard FileManager.default.fileExists(atPath: file.path) else { break }
                trusted.append([UInt8](try Data(contentsOf: file)))
            }
            return try SignedEvidence(
                name: name, evidence: [UInt8](try Data(contentsOf: folder.appending(path: "\(name).evidence"))),
                trusted: trusted)
        }
    }

    func write(to folder: URL) throws {
        try Data(evidence).write(to: folder.appending(path: "\(name).evidence"))
        for (number, certificate) in trusted.enumerated() {
            try Data(certificate).write(to: folder.appending(path: "\(name).trusted-\(number).der"))
        }
    }

    private struct Manifest: Decodable {
        struct Item: Decodable {
            struct Expected: Decodable {
                let verdict: String?
            }

            let file: String
            let bytes: Int
            let kind: String
            let version: Int?
            let expected: Expected?

            enum CodingKeys: String, CodingKey {
                case file, bytes, kind, expected
                case version = "signature_version"
            }
        }

        let items: [Item]
    }
}
