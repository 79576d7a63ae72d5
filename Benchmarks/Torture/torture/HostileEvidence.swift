import EvidenceMint
import Foundation
import HostileBytes

/// The largest and most expensive known evidence, each built against one part of the core.
enum HostileEvidence {
    /// The budget of the core.
    private static let size = 16 << 20

    static func all(_ minted: MintedSamples) throws -> [(name: String, evidence: [UInt8])] {
        try nests() + texts() + purchases(minted) + containers(minted)
    }

    private static func nests() -> [(String, [UInt8])] {
        let opening: [UInt8] = [0x30, 0x80]
        func filled(_ start: [UInt8], _ unit: [UInt8]) -> [UInt8] {
            var bytes = start
            bytes.reserveCapacity(size)
            while bytes.count + unit.count <= size { bytes += unit }
            return bytes
        }
        let levels = (0..<22).flatMap { _ in opening }
        let strings = opening + (0..<21).flatMap { _ in [0x24, 0x80] as [UInt8] }
        return [
            ("open lengths without end", filled([], opening)),
            ("empty elements 22 levels deep", filled(levels, [0x30, 0x80, 0, 0])),
            ("a string in pieces of nothing", filled(opening + [0x24, 0x80], [0x04, 0])),
            ("a string in pieces of one byte", filled(opening + [0x24, 0x80], [0x04, 1, 0x41])),
            ("pieces 22 levels deep", closed(filled(strings, [0x04, 0x7F] + [UInt8](repeating: 0, count: 127)), 22)),
        ]
    }

    /// With the ends of open lengths instead of the last bytes.
    private static func closed(_ bytes: [UInt8], _ levels: Int) -> [UInt8] {
        let unit = 129
        return Array(bytes.dropLast(unit)) + [UInt8](repeating: 0, count: 2 * levels)
    }

    private static func texts() -> [(String, [UInt8])] {
        let plain = [UInt8](repeating: UInt8(ascii: "M"), count: size)
        var wrapped = plain
        for index in stride(from: 64, to: size, by: 65) { wrapped[index] = 0x0A }
        var spaced = plain
        for index in stride(from: 1, to: size - 4, by: 5) { spaced[index] = 0x20 }
        var damaged = spaced
        damaged[size - 2] = UInt8(ascii: "!")
        return [
            ("base64", plain), ("base64 with line breaks", wrapped), ("base64 with spaces", spaced),
            ("base64 that is damaged at its end", damaged),
        ]
    }

    private static func purchases(_ minted: MintedSamples) throws -> [(String, [UInt8])] {
        let template = MintedSamples.template(purchases: 10_000)
        let receipt = try minted.mint(template)
        return [
            ("10,000 purchases", receipt),
            ("10,000 purchases in base64", [UInt8](Data(receipt).base64EncodedData())),
            ("10,000 purchases in BER", try minted.mint(template) { $0.encoding = .xcodeBER }),
        ]
    }

    private static func containers(_ minted: MintedSamples) throws -> [(String, [UInt8])] {
        let receipt = try minted.mint()
        let filler = [UInt8](repeating: 0x55, count: size - receipt.count - 64)
        func changed(_ body: (inout DERTree) -> Void) -> [UInt8] {
            guard var tree = DERTree(receipt) else { return [] }
            body(&tree.children[1].children[0])
            return tree.bytes
        }
        // Each has a different object identifier.
        let extensions = (0..<1_500_000).map { number in
            let identifier = [0x2A, 1 + UInt8(number >> 14), 0x80 | UInt8(number >> 7 & 0x7F), UInt8(number & 0x7F)]
            return DERTree(
                tag: 0x30, children: [DERTree(tag: 0x06, content: identifier), DERTree(tag: 0x04)])
        }
        return [
            (
                "a certificate of 1.5 million extensions",
                changed { signedPayload in
                    let last = signedPayload.children[3].children[0].children[0].children.count - 1
                    signedPayload.children[3].children[0].children[0].children[last].children[0].children = extensions
                }
            ),
            ("a version of 16 MB", changed { $0.children[0].content = filler }),
            ("a content type of 16 MB", changed { $0.children[2].children[0].content = filler }),
            (
                "a digest algorithm of 16 MB",
                changed {
                    $0.children[4].children[0].children[2].children[0].content = filler
                }
            ),
            (
                "a signer's serial number of 16 MB",
                changed {
                    $0.children[4].children[0].children[1].children[1].content = filler
                }
            ),
            (
                "nine certificates of 1.8 MB",
                changed { signedPayload in
                    let intermediate = signedPayload.children[3].children[1]
                    signedPayload.children[3].children += (0..<7).map { number in
                        var impostor = intermediate
                        impostor.children[0].children[5].children.append(
                            DERTree(tag: 0x31, content: [UInt8](repeating: UInt8(number), count: filler.count / 8)))
                        return impostor
                    }
                }
            ),
            (
                "attributes to the brim",
                changed { signedPayload in
                    let attributes = (0..<1_000_000).map { number in
                        let type = [0x40, UInt8(number >> 16), UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)]
                        return DERTree(
                            tag: 0x30,
                            children: [
                                DERTree(tag: 0x02, content: type), DERTree(tag: 0x02, content: [1]), DERTree(tag: 0x04),
                            ])
                    }
                    signedPayload.children[2].children[1].children[0].children[0].children += attributes
                }
            ),
        ]
    }
}
