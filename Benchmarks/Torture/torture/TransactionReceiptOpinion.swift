import CryptoExtras
import EvidenceMint
import Foundation
import HostileBytes
import PurchaseVerification

#if canImport(OpenSSLOpinion)
    import OpenSSLOpinion

    /// Compares the core's verdict on the certificate and the signature of transaction receipts with OpenSSL's.
    enum TransactionReceiptOpinion {
        static func run(_ store: EvidenceSamples, _ corpus: [Sample], seed: UInt64, mutations: Int) throws -> Bool {
            print("\n## Transaction receipts, a second opinion: \(String(cString: openssl_opinion_library()))\n")
            let corpus = corpus.filter { $0.bytes.first == UInt8(ascii: "{") }
            let issuers = try Corpus.issuers()
            if issuers.isEmpty { print("Apple's authorities are not here, so only minted receipts take part.\n") }
            let real = issuers.isEmpty ? [] : corpus.map { LeafCase($0, issuers: issuers) }
            let genuine = try store.transactionReceipts().map { LeafCase($0, issuers: store.issuers) }
            let faulty = try store.faultyTransactionReceipts().map { LeafCase($0, issuers: store.issuers) }
            let base = real.isEmpty ? genuine : real.filter(\.isGenuine) + genuine
            var report = OpinionReport()
            report.add("real receipts", ask(real.filter(\.isGenuine)))
            report.add("real negatives", ask(real.filter { !$0.isGenuine }))
            report.add("minted receipts", ask(genuine))
            report.add("minted faults", ask(faulty))
            for (name, mutate) in LeafMutation.all {
                report.add(
                    "mutations \(name)",
                    Parallel.collect(count: mutations / LeafMutation.all.count, into: OpinionTally()) { number, tally in
                        var generator = SeededGenerator(seed: seed &+ UInt64(number))
                        let base = name == LeafMutation.signedAgain ? genuine : base
                        base[generator.below(base.count)].mutated(mutate, store, &generator).compare(into: &tally)
                    } join: {
                        $0.add($1)
                    })
            }
            report.show()
            return report.holds
        }

        private static func ask(_ cases: [LeafCase]) -> OpinionTally {
            var tally = OpinionTally()
            for one in cases { one.compare(into: &tally) }
            return tally
        }
    }

    /// The kinds of changes to transaction receipts.
    enum LeafMutation {
        typealias Change = @Sendable (inout [UInt8], EvidenceSamples, inout SeededGenerator) -> Void

        static let signedAgain = "of purchase info, signed again"

        static let all: [(name: String, change: Change)] = [
            ("of bytes of the list", { bytes, _, generator in bytes = ByteMutation.changed(bytes, &generator) }),
            (
                "of bytes of the signature field",
                { bytes, _, generator in
                    guard var receipt = LooseTransactionReceipt(bytes) else { return }
                    receipt.field = ByteMutation.changed(receipt.field, &generator)
                    bytes = receipt.bytes
                }
            ),
            (
                "of structure of the certificate",
                { bytes, _, generator in
                    guard let receipt = LooseTransactionReceipt(bytes), let parts = receipt.parts,
                        var tree = DERTree(parts.certificate)
                    else { return }
                    var inner = generator
                    StructureMutation.change(&tree, &generator) { ByteMutation.changed($0, &inner) }
                    bytes = receipt.with(certificate: tree.bytes).bytes
                }
            ),
            (signedAgain, sign),
        ]

        private static func sign(_ bytes: inout [UInt8], _ store: EvidenceSamples, _ generator: inout SeededGenerator) {
            guard var receipt = LooseTransactionReceipt(bytes), let version = receipt.version,
                let known = EvidenceMint.TransactionReceiptVersion(rawValue: version),
                case .rsa(let key) = store.authority.transactionReceiptLeaf(known).privateKey, let parts = receipt.parts
            else { return }
            receipt.purchaseInfo = ByteMutation.changed(receipt.purchaseInfo, &generator)
            let message = Data([version] + receipt.purchaseInfo)
            guard let signature = Digests.signature(of: message, key, isSHA256: version == 4) else { return }
            let rest = receipt.field[(1 + parts.signature.count)...]
            receipt.field = [version] + signature + rest
            bytes = receipt.bytes
        }
    }

    /// One receipt for both verifiers.
    struct LeafCase: Sendable {
        let name: String
        private(set) var bytes: [UInt8]
        let trust: Trust
        let issuers: [[UInt8]]
        let isGenuine: Bool
        /// The date for the certificate if the receipt has none: that of the receipt it was made from.
        let fallback: Int64

        init(_ sample: Sample, issuers: [[UInt8]]) {
            (name, bytes, trust, isGenuine) = (sample.name, sample.bytes, sample.trust, sample.isGenuine)
            self.issuers = issuers
            let receipt = sample.trust.freshVerifier.inspect(sample.bytes, policies: []).transactionReceipt
            fallback = receipt.map { OpinionCase.seconds($0.purchaseDate) } ?? 1_340_000_000
        }

        func mutated(
            _ change: LeafMutation.Change, _ store: EvidenceSamples, _ generator: inout SeededGenerator
        ) -> LeafCase {
            var result = self
            change(&result.bytes, store, &generator)
            return result
        }

        func compare(into tally: inout OpinionTally) {
            let inspection = trust.freshVerifier.inspect(bytes, policies: [])
            let refusal = inspection.refusal(among: [
                "form", "container", "purchase info", "purchase date", "certificate", "signing key", "signature",
            ])
            // The date is used for the certificate even if the content is not read.
            let moment =
                inspection.transactionReceipt.map { OpinionCase.seconds($0.purchaseDate) }
                ?? LooseTransactionReceipt(bytes)?.purchaseSeconds ?? fallback
            tally.note(name, refusal, openSSL(moment)) { code in
                StricterRules.ofTransactionReceipts[code] ?? StricterRules.reasons[code]
            }
        }

        private func openSSL(_ moment: Int64) -> (accepts: Bool, reason: String) {
            guard let receipt = LooseTransactionReceipt(bytes), let version = receipt.version, let parts = receipt.parts
            else { return (false, "no signature or purchase info to be seen") }
            let all = [[version] + receipt.purchaseInfo, parts.signature, parts.certificate] + issuers
            return all.withPointers { pointers in
                var reason = [CChar](repeating: 0, count: 256)
                let issuers = Array(pointers[3...])
                let result = openssl_leaf_opinion(
                    pointers[0], version == 4 ? 1 : 0, pointers[1], pointers[2], issuers, issuers.count, moment,
                    &reason,
                    reason.count)
                precondition(result >= 0, "OpenSSL could not be asked")
                return (result == 1, String(decoding: reason.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self))
            }
        }
    }
#else
    /// Without OpenSSL, prints that the comparison is skipped.
    enum TransactionReceiptOpinion {
        static func run(_ store: EvidenceSamples, _ corpus: [Sample], seed: UInt64, mutations: Int) throws -> Bool {
            print("\n## Transaction receipts, a second opinion\n\nlibssl-dev is missing, so OpenSSL was not asked.")
            return true
        }
    }
#endif
