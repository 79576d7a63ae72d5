import Crypto
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
        let items = try CorpusManifest.items(of: corpus).filter {
            $0.expected?.verdict?.hasPrefix("genuine") == true
        }
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
}

/// The contenders for all evidence other than app receipts.
enum SignedEvidenceRow: String, CaseIterable {
    case floor
    case assayHot = "assay-hot"
    case assayHotStrings = "assay-hot-strings"
    case assayFirstSight = "assay-first-sight"
}

extension SignedEvidence {
    /// The description in the tables.
    func title(_ row: SignedEvidenceRow) -> String {
        switch row {
        case .floor where name.hasPrefix("receipt"): "floor R: digest and RSA verification, key ready"
        case .floor: "floor P: digest and P-256 verification, key ready, each signature"
        case .assayHot where name.hasPrefix("receipt"): "Assay, certificate seen before"
        case .assayHot: "Assay, chain seen before, all claims decoded"
        case .assayHotStrings: "Assay, seen before, every field read"
        case .assayFirstSight: "Assay, first sight"
        }
    }

    func contenderName(_ row: SignedEvidenceRow) -> String { "\(name)/\(row.rawValue)" }

    /// All contenders of this evidence.
    func contenders() throws -> [Contender] { try SignedEvidenceRow.allCases.map(contender) }

    func contender(_ row: SignedEvidenceRow) throws -> Contender {
        let (evidence, policies, floor) = (evidence, Self.policies, parts.floor)
        let anchors = try trusted.isEmpty ? TrustAnchor.apple : trusted.map { try TrustAnchor(certificate: $0) }
        let warmed = PurchaseVerifier(anchors: anchors)
        let first = try warmed.verify(evidence, policies: policies)
        let run: () throws -> Int =
            switch row {
            case .floor:
                {
                    guard floor() else { throw BenchmarkError("floor: invalid") }
                    return 1
                }
            case .assayHot:
                { try warmed.verify(evidence, policies: policies).kind == first.kind ? 1 : 0 }
            case .assayHotStrings:
                { try warmed.verify(evidence, policies: policies).everythingRead() }
            case .assayFirstSight:
                {
                    let verifier = PurchaseVerifier(anchors: anchors)
                    return try verifier.verify(evidence, policies: policies).kind == first.kind ? 1 : 0
                }
            }
        return Contender(name: contenderName(row), title: title(row), run: run)
    }

    /// The checks that a server makes on all evidence.
    private static var policies: [any PurchasePolicy] { [EnvironmentPolicy(accepting: [.production, .sandbox])] }
}

extension VerifiedEvidence {
    /// Reads every typed field that is costly to read, and adds up their contents.
    func everythingRead() -> Int {
        switch self {
        case .transactionReceipt(let receipt):
            var sum = receipt.transactionID.utf8.count + receipt.productID.utf8.count
            for text in [
                receipt.originalTransactionID, receipt.bundleID, receipt.applicationVersion, receipt.webOrderLineItemID,
                receipt.subscriptionGroupIdentifier, receipt.uniqueIdentifier, receipt.uniqueVendorIdentifier,
                receipt.ownershipType?.rawValue,
            ] { sum += text?.utf8.count ?? 0 }
            for number in [
                receipt.quantity, receipt.productAppleID, receipt.appAppleID, receipt.versionExternalIdentifier,
            ] { sum &+= Int(truncatingIfNeeded: number ?? 0) }
            sum += (receipt.isTrialPeriod == true ? 1 : 0) + (receipt.isInIntroOfferPeriod == true ? 1 : 0)
            return sum
        // The claims of signed data are already decoded.
        case .signedTransaction(let content): return content.productID.utf8.count
        case .signedRenewalInfo(let content): return content.productID?.utf8.count ?? 0
        case .appTransaction(let content): return content.bundleID?.utf8.count ?? 0
        case .notification(let content): return content.bundleID?.utf8.count ?? 0
        case .realtimeRequest(let content): return content.productID?.utf8.count ?? 0
        case .appReceipt(let receipt): return receipt.everythingRead()
        }
    }
}

/// The parts of signed evidence that the floors need: each signature in it, the content that it covers, and the signer.
/// Like `ReceiptParts`, it is a separate reader.
struct SignedEvidenceParts {
    /// The description of the evidence.
    let words: String
    /// Checks every signature of the evidence once, with keys and signatures decoded in advance; those of certificates
    /// are not checked.
    let floor: () -> Bool

    init(_ evidence: [UInt8]) throws {
        let text = String(decoding: evidence, as: UTF8.self)
        guard text.contains(".") else {
            (words, floor) = try Self.transactionReceipt(text)
            return
        }
        let signatures = try Self.signatures(text)
        words = "\(signatures.count) P-256 signature\(signatures.count == 1 ? "" : "s")"
        floor = { signatures.allSatisfy { $0.isValid() } }
    }

    /// The signature of a JWS and of every JWS in it.
    private static func signatures(_ jws: String) throws -> [ReadyJWS] {
        let parts = jws.split(separator: ".").map(String.init)
        guard parts.count == 3,
            let header = try JSONSerialization.jsonObject(with: try decoded(parts[0])) as? [String: Any],
            let leaf = (header["x5c"] as? [String])?.first.flatMap({ Data(base64Encoded: $0) })
        else { throw BenchmarkError("signed data is not as expected") }
        let payload = try decoded(parts[1])
        let nested = String(decoding: payload, as: UTF8.self).split(separator: "\"").filter { $0.hasPrefix("eyJ") }
        let key = try CertificateParts(der: [UInt8](leaf)).publicKeyInfo
        let own = ReadyJWS(
            signingInput: Array("\(parts[0]).\(parts[1])".utf8),
            key: try P256.Signing.PublicKey(derRepresentation: key),
            signature: try P256.Signing.ECDSASignature(rawRepresentation: try decoded(parts[2])))
        return [own] + (try nested.flatMap { try signatures(String($0)) })
    }

    private static func decoded(_ base64URL: String) throws -> Data {
        let plain = base64URL.replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - plain.count % 4) % 4)
        guard let data = Data(base64Encoded: plain + padding) else { throw BenchmarkError("no base64url") }
        return data
    }

    private static func transactionReceipt(_ base64: String) throws -> (String, () -> Bool) {
        guard let list = Data(base64Encoded: base64).map({ String(decoding: $0, as: UTF8.self) }),
            let field = try value("signature", list), let purchaseInfo = try value("purchase-info", list),
            let version = field.first, (2...4).contains(version)
        else { throw BenchmarkError("the transaction receipt is not as expected") }
        let size = version == 2 ? 128 : 256
        let certificate = try CertificateParts(der: Array(field[(1 + size + 4)...]))
        let signature = try ReadySignature(
            [version] + purchaseInfo, isSHA1: version < 4, signature: Array(field[1...size]),
            key: certificate.publicKeyInfo)
        return ("version \(version), RSA-\(size * 8), \(version < 4 ? "SHA-1" : "SHA-256")", signature.isValid)
    }

    private static func value(_ key: String, _ list: String) throws -> [UInt8]? {
        guard let start = list.range(of: "\"\(key)\" = \"")?.upperBound,
            let end = list[start...].firstIndex(of: "\"")
        else { return nil }
        return Data(base64Encoded: String(list[start..<end])).map { [UInt8]($0) }
    }
}

/// One P-256 verification with everything prepared in advance: only the digest and the signature check remain.
private struct ReadyJWS {
    let signingInput: [UInt8]
    let key: P256.Signing.PublicKey
    let signature: P256.Signing.ECDSASignature

    func isValid() -> Bool {
        var hash = SHA256()
        signingInput.withUnsafeBytes { hash.update(bufferPointer: $0) }
        return key.isValidSignature(signature, for: hash.finalize())
    }
}
