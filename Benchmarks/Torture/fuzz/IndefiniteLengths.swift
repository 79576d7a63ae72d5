import HostileBytes
import PurchaseVerification

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
