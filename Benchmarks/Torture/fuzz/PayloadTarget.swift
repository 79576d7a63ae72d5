import HostileBytes
import PurchaseVerification

/// Uses the input as the signed content of a genuine container, once in DER and once in BER. `inspect` reads it
/// although the signature does not match, so the readers of attributes, purchases, dates and text get every input.
struct PayloadTarget {
    private let container: DERTree

    init(_ minted: MintedSamples) throws {
        guard let container = DERTree(try minted.mint()) else { throw FuzzError.unreadableSeed }
        self.container = container
    }

    /// The signed content of a container.
    static func content(of bytes: [UInt8]) -> [UInt8]? {
        DERTree(bytes).flatMap { $0.inDefiniteLengths[1, 0, 2, 1, 0]?.contentBytes }
    }

    func check(_ content: [UInt8]) {
        let der = with(DERTree(tag: 0x04, content: content))
        let inspection = World.shared.checkVerdict(of: der.bytes)
        if let receipt = inspection.receipt, let set = DERTree(content) {
            // The set may be wrapped in one more octet string, and may be BER.
            let inner = set.tag == 0x04 ? set.contentBytes : content
            let read = DERTree(tag: 0x31, children: receipt.attributes.map(ReceiptReading.element)).bytes
            let isSame =
                read == inner || set.inDefiniteLengths.bytes == read || DERTree(inner)?.inDefiniteLengths.bytes == read
            demand(isSame, "the receipt does not re-serialise to what was read")
        }
        var pieces = DERTree(
            tag: 0x24,
            children: [content.prefix(content.count / 2), content.suffix(content.count - content.count / 2)].map {
                DERTree(tag: 0x04, content: Array($0))
            })
        pieces.length = .indefinite
        let other = World.shared.warmed.inspect(with(pieces).bytes, policies: [])
        demand(other.firstFailure == inspection.firstFailure, "the same content in pieces fails otherwise")
        demand(other.receipt == inspection.receipt, "the same content in pieces reads otherwise")
    }

    private func with(_ content: DERTree) -> DERTree {
        var result = container
        result.children[1].children[0].children[2].children[1].children[0] = content
        return result
    }
}

enum FuzzError: Error {
    case unreadableSeed
}
