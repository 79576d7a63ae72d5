public import Foundation
public import PurchaseVerification

/// A piece of evidence, and the anchors to trust for it.
public struct Sample: Sendable {
    /// A description without personal data.
    public let name: String
    /// The bytes, as a client sends them.
    public let evidence: [UInt8]
    /// The bytes without their text encoding.
    public let bytes: [UInt8]
    public let trust: Trust
    /// Whether it must verify.
    public let isGenuine: Bool

    public init(_ name: String, _ evidence: [UInt8], _ trust: Trust, isGenuine: Bool) {
        self.name = name
        self.evidence = evidence
        bytes = (try? RecognizedEvidence(evidence))?.bytes ?? evidence
        self.trust = trust
        self.isGenuine = isGenuine
    }
}

/// Trust anchors, for the core and for other verifiers.
public struct Trust: Sendable {
    public let anchors: [TrustAnchor]
    /// The same certificates in DER.
    public let certificates: [[UInt8]]

    public init(anchors: [TrustAnchor], certificates: [[UInt8]]) {
        self.anchors = anchors
        self.certificates = certificates
    }

    /// Trusts certificates in the same way as an operator who names them.
    public init(certificates: [[UInt8]]) throws {
        self.init(anchors: try certificates.map { try TrustAnchor(certificate: $0) }, certificates: certificates)
    }

    /// A verifier with an empty cache.
    public var freshVerifier: PurchaseVerifier { PurchaseVerifier(anchors: anchors) }
}

/// The verdict of a verifier on evidence.
public struct Verdict: Sendable {
    public private(set) var evidence: VerifiedEvidence?
    public private(set) var error: VerificationError?

    public init(_ verifier: PurchaseVerifier, _ bytes: [UInt8], policies: [any PurchasePolicy] = []) {
        do throws(VerificationError) {
            evidence = try verifier.verify(bytes, policies: policies)
        } catch {
            self.error = error
        }
    }

    public var code: String { error?.code.rawValue ?? "accepted" }
    public var words: String { error?.description ?? "accepted" }

    /// Whether it accepts the same content by the same signer.
    public func isSame(as other: Verdict) -> Bool {
        evidence == other.evidence && signer == other.signer && error == other.error
    }

    private var signer: String? {
        if case .appReceipt(let receipt) = evidence { return receipt.signer?.subject }
        return nil
    }
}

/// The corpus of real receipts: `../shared/corpus` beside the project, or the path in `ASSAY_CORPUS`. It is read in
/// place and never copied into the project.
public enum Corpus {
    /// The message for parts that are skipped because there is no corpus.
    public static let absence =
        "The corpus of real receipts is not beside the project (../shared/corpus), so only minted receipts take part."

    /// The folder of the corpus; `nil` if there is none.
    public static let folder: URL? = {
        let path =
            ProcessInfo.processInfo.environment["ASSAY_CORPUS"]
            ?? projectFolder.deletingLastPathComponent().appending(path: "shared/corpus").path
        let folder = URL(fileURLWithPath: path, isDirectory: true)
        return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
    }()

    private static let projectFolder = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { folder, _ in
        folder.deletingLastPathComponent()
    }

    /// Every app receipt of the corpus, Xcode's under their own anchor, and the negatives that resemble one; empty if
    /// there is no corpus. A corpus that cannot be read, or is empty, is an error.
    public static func samples() throws -> [Sample] {
        guard let folder else { return [] }
        let samples = try items(of: folder).compactMap { item in try sample(item, in: folder) }
        guard samples.contains(where: \.isGenuine) else { throw CorpusError.empty }
        return samples
    }

    private static func sample(_ item: Manifest.Item, in folder: URL) throws -> Sample? {
        guard kinds.contains(item.kind), !item.file.hasSuffix(".jws") else { return nil }
        let bytes = [UInt8](try Data(contentsOf: folder.appending(path: item.file)))
        let name = item.file.split(separator: "/").last.map(String.init) ?? item.file
        guard item.kind == "app-receipt-xcode" else {
            let isGenuine = item.kind == "app-receipt" && item.expected?.verdict == "genuine"
            return Sample(name, bytes, try apple.get(), isGenuine: isGenuine)
        }
        let lone = PurchaseVerifier(anchors: []).inspect(bytes, policies: []).certificates.map(\.der)
        return Sample(name, bytes, try Trust(certificates: lone), isGenuine: true)
    }

    /// Every transaction receipt and every JWS that Apple signed or is claimed to have signed; empty if there is no
    /// corpus.
    public static func signedSamples() throws -> [Sample] {
        guard let folder else { return [] }
        let testCA = try Trust(certificates: [
            [UInt8](try Data(contentsOf: folder.appending(path: "certificates/apple-test-ca/testCA.der")))
        ])
        let samples = try items(of: folder).compactMap { item -> Sample? in
            // Xcode's are signed by a certificate of the developer's machine, which no other verifier trusts.
            let isSigned = item.kind.hasSuffix("transaction-receipt") || item.file.hasSuffix(".jws")
            guard isSigned, item.kind != "jws-xcode" else { return nil }
            let bytes = [UInt8](try Data(contentsOf: folder.appending(path: item.file))).filter { $0 > 0x20 }
            let name = item.file.split(separator: "/").last.map(String.init) ?? item.file
            let isOfTestCA = item.kind == "jws-apple-test-ca"
            let verdict = item.expected?.verdict ?? ""
            return Sample(
                name, bytes, isOfTestCA ? testCA : try apple.get(),
                isGenuine: verdict.hasPrefix("genuine") || verdict.hasPrefix("valid"))
        }
        guard samples.contains(where: \.isGenuine) else { throw CorpusError.empty }
        return samples
    }

    /// The certificates of the authorities that issued the leaves of transaction receipts; empty if there is no corpus.
    public static func issuers() throws -> [[UInt8]] {
        guard let folder else { return [] }
        return try [
            "AppleWWDRCA-2008", "AppleWWDRCA-G1", "AppleWWDRCA-G3", "AppleWWDRCA-G4", "AppleWWDRCA-G5",
            "AppleWWDRCA-G7", "AppleWWDRCA-G8", "AppleiTunesStoreCA",
        ].map { [UInt8](try Data(contentsOf: folder.appending(path: "certificates/\($0).der"))) }
    }

    private static let kinds: Set = [
        "app-receipt", "app-receipt-xcode", "apple-signed-not-a-receipt", "derived-negative", "synthetic-receipt",
        "truncated-receipt",
    ]

    /// Apple's roots: the core has its own, others get them from the corpus.
    public static let apple = Result {
        let names = ["AppleIncRootCertificate.der", "AppleRootCA-G2.der", "AppleRootCA-G3.der"]
        guard let folder else { return Trust(anchors: TrustAnchor.apple, certificates: []) }
        let certificates = try names.map {
            [UInt8](try Data(contentsOf: folder.appending(path: "certificates/\($0)")))
        }
        return Trust(anchors: TrustAnchor.apple, certificates: certificates)
    }

    private static func items(of folder: URL) throws -> [Manifest.Item] {
        try JSONDecoder().decode(
            Manifest.self, from: try Data(contentsOf: folder.appending(path: "MANIFEST.json"))
        ).items
    }

    private struct Manifest: Decodable {
        struct Item: Decodable {
            struct Expected: Decodable {
                let verdict: String?
            }

            let file: String
            let kind: String
            let expected: Expected?
        }

        let items: [Item]
    }
}

public enum CorpusError: Error {
    case empty
}
