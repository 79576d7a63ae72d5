import Foundation
import HostileBytes
import PurchaseVerification

/// The values that all inputs of a run share: keys, genuine receipts, and one verifier that remembers every chain it
/// has seen.
struct World {
    let minted: MintedSamples
    let store: EvidenceSamples
    /// Minted and real, genuine and not.
    let samples: [Sample]
    /// Transaction receipts, minted and real, genuine and not.
    let receipts: [Sample]
    /// Signed data, minted and real, genuine and not.
    let signedPayload: [Sample]
    let trust: Trust
    let warmed: PurchaseVerifier
    /// The results that a verification may have: the content of the samples that verify, and nothing else.
    private let genuine: [VerifiedEvidence]
    let payload: PayloadTarget
    let certificate: CertificateTarget
    let transactionReceipt: TransactionReceiptTarget
    let claims: ClaimsTarget

    /// The transaction receipts, split into parts.
    var looseReceipts: [LooseTransactionReceipt] { receipts.compactMap { LooseTransactionReceipt($0.bytes) } }

    static let shared: World = {
        do {
            return try World()
        } catch {
            fatalError("no world to fuzz in: \(error)")
        }
    }()

    private init() throws {
        let keys = ProcessInfo.processInfo.environment["ASSAY_TORTURE_KEYS"].map { URL(fileURLWithPath: $0) }
        minted = try MintedSamples(folder: keys)
        store = try EvidenceSamples(folder: keys)
        samples = try minted.genuine() + minted.faulty() + Corpus.samples()
        let signed = try Corpus.signedSamples()
        let isReceipt: (Sample) -> Bool = { $0.bytes.first == UInt8(ascii: "{") }
        receipts =
            try store.transactionReceipts() + store.faultyTransactionReceipts() + signed.filter(isReceipt)
        signedPayload =
            try store.signedPayload() + store.faultySignedPayload()
            + signed.filter { $0.bytes.first == UInt8(ascii: "e") }
        let operators =
            [minted.trust, minted.xcodeTrust, store.trust] + signed.map(\.trust).filter { $0.certificates.count == 1 }
            + samples.map(\.trust).filter { $0.certificates.count == 1 }
        var named: [[UInt8]] = []
        for certificate in operators.flatMap(\.certificates) where !named.contains(certificate) {
            named.append(certificate)
        }
        let own = try Trust(certificates: named)
        trust = Trust(anchors: TrustAnchor.apple + own.anchors, certificates: own.certificates)
        let verifier = PurchaseVerifier(anchors: trust.anchors)
        warmed = verifier
        genuine = try (samples + receipts + signedPayload).compactMap { sample in
            let verdict = Verdict(verifier, sample.evidence)
            if sample.isGenuine, let error = verdict.error { throw error }
            return verdict.evidence
        }
        payload = try PayloadTarget(minted)
        certificate = try CertificateTarget(minted)
        transactionReceipt = try TransactionReceiptTarget(store)
        claims = try ClaimsTarget(store)
    }

    /// Checks every invariant of a verdict. `inspect` remembers nothing, so its agreement with a verifier that has seen
    /// all chains shows that history has no effect.
    @discardableResult
    func checkVerdict(of evidence: [UInt8], anchors: [TrustAnchor]? = nil) -> EvidenceInspection {
        let warmed = anchors.map { PurchaseVerifier(anchors: $0) } ?? warmed
        let verdict = Verdict(warmed, evidence)
        let inspection = warmed.inspect(evidence, policies: [])
        demand(
            verdict.error == inspection.firstFailure,
            "verify says \(verdict.words), inspect \(inspection.firstFailure?.description ?? "nothing")")
        if let verified = verdict.evidence {
            let fresh = Verdict(PurchaseVerifier(anchors: anchors ?? trust.anchors), evidence)
            demand(verified == fresh.evidence, "a fresh verifier says: \(fresh.words)")
            demand(genuine.contains { $0.saysTheSame(as: verified) }, "evidence was accepted that nobody made")
            demand(verified.isRead(in: inspection), "inspect reads another content")
        }
        if let error = verdict.error {
            demand(!error.code.rawValue.isEmpty && !error.message.isEmpty, "a refusal without a reason")
        }
        read(inspection)
        return inspection
    }

    /// Reads everything that an inspection offers.
    private func read(_ inspection: EvidenceInspection) {
        for certificate in inspection.certificates {
            demand(!certificate.publicKey.isEmpty, "a certificate without a word about its key")
            _ = (certificate.notBefore.description, certificate.notAfter.description)
        }
        if let receipt = inspection.receipt { ReceiptReading.check(receipt) }
        if let receipt = inspection.transactionReceipt { TransactionReceiptTarget.check(receipt) }
    }
}

extension VerifiedEvidence {
    /// Whether the signed content is the same. The environment of a transaction receipt is outside of it.
    fileprivate func saysTheSame(as other: VerifiedEvidence) -> Bool {
        switch (self, other) {
        case (.transactionReceipt(let left), .transactionReceipt(let right)):
            left.version == right.version && left.attributes.elementsEqual(right.attributes, by: ==)
        case (.notification(let left), .notification(let right)):
            // Nested data is signed again in each process, and ECDSA uses a random number.
            left.notificationUUID == right.notificationUUID && left.signedDate == right.signedDate
                && left.notificationType == right.notificationType && left.bundleID == right.bundleID
                && left.environment == right.environment && left.transaction == right.transaction
                && left.renewalInfo == right.renewalInfo && left.appTransaction == right.appTransaction
        default: self == other
        }
    }

    /// Whether `inspect` shows the same content.
    fileprivate func isRead(in inspection: EvidenceInspection) -> Bool {
        switch self {
        case .appReceipt(let receipt): inspection.receipt?.attributes == receipt.attributes
        case .transactionReceipt(let receipt):
            inspection.transactionReceipt?.attributes.elementsEqual(receipt.attributes, by: ==) == true
        case .signedTransaction(let content): inspection.content?.payload == content.payload
        case .signedRenewalInfo(let content): inspection.content?.payload == content.payload
        case .appTransaction(let content): inspection.content?.payload == content.payload
        case .notification(let content): inspection.content?.payload == content.payload
        case .realtimeRequest(let content): inspection.content?.payload == content.payload
        }
    }
}

extension World {
    /// The start of every container: `pkcs7-signedData`, and an explicit tag, both of indefinite length.
    private static let opening: [UInt8] =
        [0x30, 0x80, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02, 0xA0, 0x80]

    /// The SignedPayload of a sample with the ends of the open lengths around it.
    static func insideIndefinite(_ sample: Sample) -> [UInt8] {
        (DERTree(sample.bytes)?[1, 0]?.bytes ?? sample.bytes) + [0, 0, 0, 0]
    }

    /// The bytes inside two open lengths, and inside forty. The same value in DER, written by independent code, has the
    /// same verdict.
    func checkIndefinite(_ bytes: [UInt8]) {
        let evidence = Self.opening + bytes
        let inspection = checkVerdict(of: evidence)
        checkVerdict(of: [UInt8](repeating: 0x30, count: 80).enumerated().map { $0 % 2 == 0 ? $1 : 0x80 } + bytes)
        guard inspection.containerBytes != nil, let tree = DERTree(evidence) else { return }
        let definite = warmed.inspect(tree.inDefiniteLengths.bytes, policies: [])
        demand(definite.firstFailure == inspection.firstFailure, "the same in DER fails otherwise")
        demand(definite.receipt == inspection.receipt, "the same in DER reads otherwise")
    }
}
