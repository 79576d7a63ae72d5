import HostileBytes

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
