import EvidenceMint
import HostileBytes
import PurchaseVerification

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
