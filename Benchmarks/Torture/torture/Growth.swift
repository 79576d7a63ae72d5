import Foundation
import HostileBytes
import PurchaseVerification

/// The cost of a byte of hostile text, in each field and from 1 kB to 1 MB: it must not grow with the length.
enum Growth {
    /// Signed payloads have at most 384 KiB including base64, of which 160 kB of claims take more than half.
    private static let sizes = [1 << 10, 1 << 12, 1 << 14, 1 << 16, 160 << 10, 1 << 20]
    /// A byte may cost this many times its cost at a smaller size. Quadratic cost grows fourfold from column to column,
    /// and 64-fold from 16 kB to 1 MB; the rest allows for caches and page faults.
    private static let limit = 8.0
    /// Below this, the time of a call is noise.
    private static let noise = 2e-4

    static func run(_ store: EvidenceSamples) throws -> Bool {
        print("\n## Growth: nanoseconds of a core for each byte of hostile text, verified and inspected\n")
        print("| field | \(sizes.map { "\($0 >> 10) kB" }.joined(separator: " | ")) | verdict |")
        print("|---|\(sizes.map { _ in "---:" }.joined(separator: "|"))|---|")
        let fields = HostileText.all(store)
        guard fields.count > 20 else {
            print("VIOLATED: only \(fields.count) fields were tried")
            return false
        }
        var holds = true
        for field in fields { holds = row(field, store) && holds }
        return holds
    }

    /// Every comparison that a caller can request is made.
    private static let policies: [any PurchasePolicy] = [
        EnvironmentPolicy(accepting: [.production, .sandbox, .other("Elsewhere")]), BundleIDPolicy("com.example.app"),
        ApplicationVersionPolicy("1"), TransactionPolicy(TransactionFacts(transactionID: "1", productID: "a")),
        DeviceHashPolicy(DeviceIdentifier(bytes: [UInt8](repeating: 1, count: 16))),
    ]

    private static func row(_ field: HostileText, _ store: EvidenceSamples) -> Bool {
        var perByte: [Double] = []
        var verdict = ""
        var isLinear = true
        for size in sizes {
            let evidence = field.evidence(size)
            let seconds = best(evidence, store, &verdict)
            let each = seconds / Double(size)
            // The first column is mostly the fixed cost of any evidence.
            let smallest = perByte.dropFirst().min() ?? each
            if seconds > noise, each > limit * smallest { isLinear = false }
            perByte.append(each)
            // If the cost is not linear, further columns would take minutes.
            if seconds > 5 { break }
        }
        let columns = sizes.indices.map { $0 < perByte.count ? String(format: "%.1f", perByte[$0] * 1e9) : "…" }
        print(
            "| \(field.field) | \(columns.joined(separator: " | ")) | \(verdict)\(isLinear ? "" : ", VIOLATED: not linear") |"
        )
        return isLinear
    }

    private static func best(_ evidence: [UInt8], _ store: EvidenceSamples, _ verdict: inout String) -> Double {
        let verifier = store.trust.freshVerifier
        var best = Double.infinity
        for _ in 0..<5 {
            let seconds = CostMeasurement.processorSeconds {
                verdict = Verdict(verifier, evidence).code
                _ = verifier.inspect(evidence, policies: policies)
            }
            best = min(best, seconds)
            if seconds > 1 { break }
        }
        return best
    }
}
