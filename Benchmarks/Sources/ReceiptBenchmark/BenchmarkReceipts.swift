import EvidenceMint
import Foundation
import PurchaseVerification

/// A receipt to measure, and the trust needed to accept it.
struct BenchmarkReceipt {
    /// `small`, `medium` or `large`.
    let name: String
    let base64: [UInt8]
    let bundleID: String
    let purchases: Int
    let anchors: [TrustAnchor]
    let parts: ReceiptParts

    init(name: String, base64: [UInt8], bundleID: String, purchases: Int, anchors: [TrustAnchor]) throws {
        guard let receipt = Data(base64Encoded: Data(base64)) else { throw BenchmarkError("\(name): no base64") }
        self.name = name
        self.base64 = base64
        self.bundleID = bundleID
        self.purchases = purchases
        self.anchors = anchors
        parts = try ReceiptParts([UInt8](receipt))
    }

    /// The description in the tables.
    var title: String {
        "\(name): \(purchases) purchase\(purchases == 1 ? "" : "s"), \(parts.isSHA1 ? "SHA-1" : "SHA-256"), "
            + "\(base64.count) bytes of base64"
    }
}

/// The receipts of a run: real ones of the corpus if it has them, otherwise minted ones of the same sizes.
struct BenchmarkReceipts {
    let receipts: [BenchmarkReceipt]
    /// Transaction receipts and signed data.
    let signed: [SignedEvidence]
    /// The origin of the receipts, as a phrase.
    let origin: String
    /// The certificates to trust besides Apple's roots.
    private let root: [UInt8]?

    init() throws {
        let folder = ProcessInfo.processInfo.environment["ASSAY_CORPUS"] ?? "../shared/corpus"
        let corpus = URL(fileURLWithPath: folder, isDirectory: true)
        guard FileManager.default.fileExists(atPath: corpus.appending(path: "MANIFEST.json").path) else {
            let mint = try Mint()
            receipts = try [("small", 2), ("medium", 8), ("large", 200)].map { try mint.receipt($0, purchases: $1) }
            signed = try SignedEvidence.minted()
            origin = "minted by the simulator, because there is no corpus of real ones beside the project."
            root = mint.root
            return
        }
        receipts = try Self.real(corpus)
        signed = try SignedEvidence.real(corpus)
        origin = "real ones of the corpus, signed by Apple."
        root = nil
    }

    /// The smallest receipt of each size that Apple signed. The corpus has no large receipts with today's SHA-256.
    private static func real(_ corpus: URL) throws -> [BenchmarkReceipt] {
        let items = try CorpusManifest.items(of: corpus)
        func pick(_ name: String, _ purchases: ClosedRange<Int>, digest: String? = nil) throws -> BenchmarkReceipt {
            let fitting = items.filter {
                $0.kind == "app-receipt" && $0.expected?.verdict == "genuine" && $0.file.hasSuffix(".b64")
                    && purchases.contains($0.purchases ?? -1) && (digest == nil || $0.digest == digest)
            }
            guard let item = fitting.min(by: { ($0.bytes, $0.file) < ($1.bytes, $1.file) }),
                let bundleID = item.bundleID, let count = item.purchases
            else { throw BenchmarkError("the corpus holds no receipt of \(purchases) purchases") }
            let text = try Data(contentsOf: corpus.appending(path: item.file))
            return try BenchmarkReceipt(
                name: name, base64: text.filter { $0 > 0x20 }, bundleID: bundleID, purchases: count,
                anchors: TrustAnchor.apple)
        }
        return [
            try pick("small", 2...2, digest: "sha256"), try pick("medium", 7...9), try pick("large", 150...250),
        ]
    }
}

extension BenchmarkReceipts {
    private static let names = ["small", "medium", "large"]

    /// Receipts that `write` has put into a folder, so that several runs measure the same ones.
    init(folder: URL) throws {
        let root = folder.appending(path: "root.der")
        self.root = FileManager.default.fileExists(atPath: root.path) ? [UInt8](try Data(contentsOf: root)) : nil
        let anchors = try self.root.map { [try TrustAnchor(certificate: $0)] } ?? TrustAnchor.apple
        origin = String(decoding: try Data(contentsOf: folder.appending(path: "origin.txt")), as: UTF8.self)
        receipts = try Self.names.map { name in
            let facts = try JSONDecoder().decode(
                ExportedFacts.self, from: Data(contentsOf: folder.appending(path: "\(name).json")))
            return try BenchmarkReceipt(
                name: name, base64: [UInt8](try Data(contentsOf: folder.appending(path: "\(name).b64"))),
                bundleID: facts.bundleID, purchases: facts.purchases, anchors: anchors)
        }
        signed = try SignedEvidence.read(from: folder)
    }

    func write(to folder: URL) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for receipt in receipts {
            try Data(receipt.base64).write(to: folder.appending(path: "\(receipt.name).b64"))
            let facts = ExportedFacts(bundleID: receipt.bundleID, purchases: receipt.purchases)
            try JSONEncoder().encode(facts).write(to: folder.appending(path: "\(receipt.name).json"))
        }
        for evidence in signed { try evidence.write(to: folder) }
        try Data(origin.utf8).write(to: folder.appending(path: "origin.txt"))
        if let root { try Data(root).write(to: folder.appending(path: "root.der")) }
    }
}

/// Mints receipts of any size with its own authority.
struct Mint {
    private static let bundleID = "com.example.app"
    private static let creationDate = Date(timeIntervalSince1970: 1_735_689_600)
    private let encoder: AppReceiptEncoder
    private let anchor: TrustAnchor

    init() throws {
        encoder = AppReceiptEncoder(authority: try CertificateAuthority())
        anchor = try TrustAnchor(certificate: encoder.authority.root.certificate)
    }

    /// The certificate to trust.
    var root: [UInt8] { encoder.authority.root.certificate }

    /// A receipt of subscription periods, the largest kind of purchase.
    func receipt(_ name: String, purchases: Int) throws -> BenchmarkReceipt {
        let periods = (0..<purchases).map { index in
            let start = Self.creationDate.addingTimeInterval(-300 * Double(index + 1))
            return PurchaseTemplate.subscription(
                productID: "com.example.app.monthly", transactionID: "\(2_000_000_000_000_000 + index)",
                originalTransactionID: "2000000000000000", purchaseDate: start,
                originalPurchaseDate: Self.creationDate.addingTimeInterval(-300 * Double(purchases)),
                expiresDate: start.addingTimeInterval(300))
        }
        let template = AppReceiptTemplate.sandbox(
            bundleID: Self.bundleID, creationDate: Self.creationDate, purchases: periods)
        return try BenchmarkReceipt(
            name: name, base64: Array(try encoder.encodeBase64(template).utf8), bundleID: Self.bundleID,
            purchases: purchases, anchors: [anchor])
    }
}

/// The list of the corpus.
struct CorpusManifest: Decodable {
    private let items: [Item]

    static func items(of corpus: URL) throws -> [Item] {
        let json = try Data(contentsOf: corpus.appending(path: "MANIFEST.json"))
        return try JSONDecoder().decode(CorpusManifest.self, from: json).items
    }

    struct Item: Decodable {
        let file: String
        let bytes: Int
        let kind: String
        let bundleID: String?
        let purchases: Int?
        let digest: String?
        /// Of the signature of a transaction receipt.
        let version: Int?
        let expected: Expected?

        enum CodingKeys: String, CodingKey {
            case file, bytes, kind, digest, expected
            case bundleID = "bundle_id"
            case purchases = "in_app_count"
            case version = "signature_version"
        }
    }

    struct Expected: Decodable {
        let verdict: String?
    }
}

private struct ExportedFacts: Codable {
    let bundleID: String
    let purchases: Int
}
