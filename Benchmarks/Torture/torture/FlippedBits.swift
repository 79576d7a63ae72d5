import EvidenceMint
import HostileBytes
import PurchaseVerification

/// Every single bit flipped, and every proper prefix: refused, or, for bits, without effect on the verified content. A
/// verifier that has seen the chain and a fresh one return the same result.
enum FlippedBits {
    /// The fresh verifier checks one bit in this many, because it verifies three signatures each time.
    private static let freshShare = 16

    static func run(
        _ minted: MintedSamples, _ store: EvidenceSamples, _ corpus: [Sample], _ signed: [Sample]
    ) throws -> Bool {
        print("\n## Every bit flipped, every proper prefix\n")
        let samples =
            try chosen(corpus) + mintedSamples(minted) + chosen(signed: signed) + store.transactionReceipts()
            + store.signedPayload()
        var holds = true
        for sample in samples { holds = flip(sample) && holds }
        return holds
    }

    /// The smallest real receipts: two of each digest, and one of Xcode's.
    private static func chosen(_ corpus: [Sample]) -> [Sample] {
        let sorted = corpus.filter(\.isGenuine).sorted { $0.bytes.count < $1.bytes.count }
        let (xcode, apple) = (
            sorted.filter { $0.trust.certificates.count == 1 }, sorted.filter { $0.trust.certificates.count > 1 }
        )
        func signed(_ digest: String) -> [Sample] {
            Array(apple.lazy.filter { Self.digest(of: $0).hasPrefix(digest) }.prefix(2))
        }
        return signed("SHA-1,") + signed("SHA-256,") + xcode.prefix(1)
    }

    /// The smallest real ones: two of each version of transaction receipts and of each kind of signed data, if there
    /// are two.
    private static func chosen(signed: [Sample]) -> [Sample] {
        let sorted = signed.filter(\.isGenuine).sorted { $0.bytes.count < $1.bytes.count }
        let groups = Dictionary(grouping: sorted) { sample in
            let inspection = sample.trust.freshVerifier.inspect(sample.bytes, policies: [])
            let version = inspection.transactionReceipt.map { "\($0.version.rawValue)" } ?? ""
            return (inspection.evidence?.kind?.rawValue ?? "") + version
        }
        return groups.sorted { $0.key < $1.key }.flatMap { $0.value.prefix(2) }
    }

    /// The environment of a transaction receipt is unsigned. The accepted environments decide, as in every server.
    private static func policies(_ sample: Sample) -> [any PurchasePolicy] {
        sample.bytes.first == UInt8(ascii: "{") ? [EnvironmentPolicy(accepting: [.production, .sandbox])] : []
    }

    private static func digest(of sample: Sample) -> String {
        sample.trust.freshVerifier.inspect(sample.bytes, policies: []).signature ?? ""
    }

    private static func mintedSamples(_ minted: MintedSamples) throws -> [Sample] {
        let names = ["minted, sha256", "minted, sha256, attributes", "minted, BER in pieces"]
        return try minted.genuine().filter { names.contains($0.name) }
    }

    private struct Outcome: Sendable {
        var refused: Tally = [:]
        var unchanged: Tally = [:]
        var fresh = 0
        var violations: [String] = []
    }

    private static func flip(_ sample: Sample) -> Bool {
        let regions = ContainerRegions(sample.bytes)
        let (verifier, policies) = (sample.trust.freshVerifier, policies(sample))
        let original = Verdict(verifier, sample.bytes, policies: policies)
        guard original.evidence != nil else {
            print("VIOLATED: \(sample.name) does not verify: \(original.code)")
            return false
        }
        let outcome = Parallel.collect(count: sample.bytes.count * 8, into: Outcome()) { bit, outcome in
            var bytes = sample.bytes
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            let verdict = Verdict(verifier, bytes, policies: policies)
            if let error = verdict.error {
                outcome.refused.add(error.code.rawValue)
            } else if verdict.isSame(as: original) {
                outcome.unchanged.add(regions.name(at: bit / 8))
            } else {
                outcome.violations.append("bit \(bit) changes what is verified")
            }
            guard bit % freshShare == (bit / freshShare) % freshShare else { return }
            outcome.fresh += 1
            let fresh = Verdict(sample.trust.freshVerifier, bytes, policies: policies)
            if !fresh.isSame(as: verdict) {
                outcome.violations.append("bit \(bit): fresh \(fresh.code), warmed \(verdict.code)")
            }
        } join: { total, part in
            total.refused.add(part.refused)
            total.unchanged.add(part.unchanged)
            total.fresh += part.fresh
            total.violations += part.violations
        }
        let prefixes = prefixesAccepted(sample, verifier)
        let violations = outcome.violations + prefixes.map { "the first \($0) bytes alone are accepted" }
        print("\(sample.name), \(sample.bytes.count) bytes, \(sample.bytes.count * 8) bits:")
        print("  refused \(outcome.refused.total): \(outcome.refused.line)")
        print("  no effect \(outcome.unchanged.total): \(outcome.unchanged.line)")
        print("  \(outcome.fresh) bits by a fresh verifier, too; \(sample.bytes.count) proper prefixes refused")
        for violation in violations { print("  VIOLATED: \(violation)") }
        return violations.isEmpty && outcome.refused.total > 0 && outcome.fresh > 0
    }

    private static func prefixesAccepted(_ sample: Sample, _ verifier: PurchaseVerifier) -> [Int] {
        Parallel.collect(count: sample.bytes.count, into: [Int]()) { count, accepted in
            if Verdict(verifier, Array(sample.bytes[..<count])).error == nil { accepted.append(count) }
        } join: {
            $0 += $1
        }
    }
}

/// The regions of a container.
struct ContainerRegions: Sendable {
    private var regions: [(range: Range<Int>, name: String)] = []
    /// The signed content without its header; empty if it is not in one piece.
    private(set) var content = 0..<0

    init(_ bytes: [UInt8]) {
        guard bytes.first == 0x30 else {
            addText(bytes)
            return
        }
        guard let signedData = DERTree(bytes)?[1, 0] else { return }
        for child in signedData.children {
            switch child.tag {
            case 0xA0: addCertificates(child)
            case 0x31: addSetOrSigners(child)
            default: break
            }
        }
        if let content = signedData[2, 1, 0] {
            regions.append((content.range, "content"))
            self.content = content.range
        }
    }

    /// The region of a byte; bytes in no region are surrounding lengths and tags.
    func name(at offset: Int) -> String {
        regions.first { $0.range.contains(offset) }?.name ?? "container"
    }

    /// The ranges outside the content, which a verifier reads before the signature.
    func envelope(of count: Int) -> [Range<Int>] {
        content.isEmpty ? [0..<count] : [0..<content.lowerBound, content.upperBound..<count].filter { !$0.isEmpty }
    }

    /// The quoted strings of a property list, and the rest of it.
    private mutating func addText(_ bytes: [UInt8]) {
        var start: Int?
        for (offset, byte) in bytes.enumerated() where byte == UInt8(ascii: "\"") {
            if let begun = start {
                regions.append((begun..<offset, "unsigned text"))
                start = nil
            } else {
                start = offset + 1
            }
        }
        regions.append((0..<bytes.count, "white space"))
    }

    private mutating func addCertificates(_ field: DERTree) {
        for (number, certificate) in field.children.enumerated() {
            let isRoot = certificate[0].map(Self.isSelfIssued) ?? false
            regions.append((certificate.range, isRoot ? "embedded root" : "embedded certificate \(number + 1)"))
        }
    }

    private static func isSelfIssued(_ signed: DERTree) -> Bool {
        let names = signed.children.filter { $0.tag == 0x30 && $0.children.allSatisfy { $0.tag == 0x31 } }
        return names.count >= 2 && names[0].contentBytes == names[1].contentBytes
    }

    private mutating func addSetOrSigners(_ field: DERTree) {
        guard let signer = field.children.first, signer.children.count >= 5 else {
            regions.append((field.range, "digest algorithms"))
            return
        }
        let hasAttributes = signer.children[3].tag == 0xA0
        let names =
            ["version of the signer", "issuer and serial number", "digest algorithm"]
            + (hasAttributes ? ["signed attributes"] : []) + ["signature algorithm", "signature"]
        for (child, name) in zip(signer.children, names) { regions.append((child.range, name)) }
    }
}

/// Containers that make the path search long: a verifier that has seen the chain and one that has not must return the
/// same result.
enum History {
    static func run(_ minted: MintedSamples) throws -> Bool {
        print("\n## History makes no difference\n")
        let warmed = minted.trust.freshVerifier
        _ = try warmed.verify(try minted.mint(), policies: [])
        var holds = true
        for count in 0...7 {
            let evidence = try thicket(minted, count)
            let (first, again) = (Verdict(minted.trust.freshVerifier, evidence), Verdict(warmed, evidence))
            let isSame = first.isSame(as: again)
            holds = holds && isSame
            let remark = isSame ? "" : "  VIOLATED"
            print("\(count) impostors of the issuer: fresh \(first.code), warmed \(again.code)\(remark)")
        }
        return holds
    }

    /// A genuine receipt with additional unsigned certificates that bear the issuer's name and key.
    private static func thicket(_ minted: MintedSamples, _ count: Int) throws -> [UInt8] {
        let authority = minted.authority
        let impostors = try (0..<count).map { number in
            var certificate = try authority.replacingIntermediate { $0.serialNumber = [UInt8(number + 1)] }
                .intermediate.certificate
            certificate[certificate.count - 1] ^= 1
            return certificate
        }
        return try minted.mint {
            $0.embeddedCertificates =
                [authority.leaf.certificate] + impostors + [authority.intermediate.certificate]
        }
    }
}
