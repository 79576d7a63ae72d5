import Foundation
import HostileBytes
import PurchaseVerification

/// What all inputs of a run share: keys, genuine receipts, and one verifier that remembers every chain it has seen.
struct World {
    let minted: MintedSamples
    /// Minted and real, genuine and not.
    let samples: [Sample]
    let trust: Trust
    let warmed: PurchaseVerifier
    /// What may come out of a verification: what the samples say that verify, and nothing else.
    private let genuine: [AppReceipt]
    let payload: PayloadTarget
    let certificate: CertificateTarget

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
        samples = try minted.genuine() + minted.faulty() + Corpus.samples()
        let operators = [minted.trust, minted.xcodeTrust] + samples.map(\.trust).filter { $0.certificates.count == 1 }
        var named: [[UInt8]] = []
        for certificate in operators.flatMap(\.certificates) where !named.contains(certificate) {
            named.append(certificate)
        }
        let own = try Trust(certificates: named)
        trust = Trust(anchors: TrustAnchor.apple + own.anchors, certificates: own.certificates)
        let verifier = PurchaseVerifier(anchors: trust.anchors)
        warmed = verifier
        genuine = try samples.compactMap { sample in
            let verdict = Verdict(verifier, sample.evidence)
            if sample.isGenuine, let error = verdict.error { throw error }
            return verdict.receipt
        }
        payload = try PayloadTarget(minted)
        certificate = try CertificateTarget(minted)
    }

    /// Makes every statement about a verdict that holds for all inputs. `inspect` remembers nothing, so that it agrees
    /// with a verifier that has seen all chains says that history changes nothing.
    @discardableResult
    func checkVerdict(of evidence: [UInt8], anchors: [TrustAnchor]? = nil) -> AppReceiptInspection {
        let warmed = anchors.map { PurchaseVerifier(anchors: $0) } ?? warmed
        let verdict = Verdict(warmed, evidence)
        let inspection = warmed.inspect(evidence, policies: [])
        demand(
            verdict.error == inspection.firstFailure,
            "verify says \(verdict.words), inspect \(inspection.firstFailure?.description ?? "nothing")")
        if let receipt = verdict.receipt {
            let fresh = Verdict(PurchaseVerifier(anchors: anchors ?? trust.anchors), evidence)
            demand(receipt == fresh.receipt, "a fresh verifier says: \(fresh.words)")
            demand(genuine.contains(receipt), "a receipt was accepted that nobody made")
            demand(inspection.receipt?.attributes == receipt.attributes, "inspect reads another receipt")
        }
        if let error = verdict.error {
            demand(!error.code.rawValue.isEmpty && !error.message.isEmpty, "a refusal without a reason")
        }
        read(inspection)
        return inspection
    }

    /// Reads all that an inspection offers.
    private func read(_ inspection: AppReceiptInspection) {
        for certificate in inspection.certificates {
            demand(!certificate.publicKey.isEmpty, "a certificate without a word about its key")
            _ = (certificate.notBefore.description, certificate.notAfter.description)
        }
        if let receipt = inspection.receipt { ReceiptReading.check(receipt) }
    }
}

/// What a verifier says of evidence.
struct Verdict {
    private(set) var receipt: AppReceipt?
    private(set) var error: VerificationError?

    init(_ verifier: PurchaseVerifier, _ evidence: [UInt8]) {
        do throws(VerificationError) {
            receipt = try verifier.verify(evidence, policies: [])
        } catch {
            self.error = error
        }
    }

    var words: String { error?.description ?? "accepted" }
}
