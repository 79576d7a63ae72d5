import EvidenceMint
import Foundation
import Testing

@Suite("An authority")
struct AuthorityTests {
    @Test("has no name that could be mistaken for Apple's")
    func names() throws {
        let authority = try World.authority()
        for identity in [authority.root, authority.intermediate, authority.leaf, try World.xcodeSigner().identity] {
            let name = String(decoding: identity.subject.der, as: UTF8.self)
            #expect(name.contains("Assay Simulator"))
            #expect(!name.localizedCaseInsensitiveContains("apple"))
        }
    }

    @Test("links its certificates by name")
    func links() throws {
        let authority = try World.authority()
        #expect(authority.root.issuer == authority.root.subject)
        #expect(authority.intermediate.issuer == authority.root.subject)
        #expect(authority.leaf.issuer == authority.intermediate.subject)
    }

    @Test("is valid from 2008 to 2049, so that receipts of any date verify")
    func validity() throws {
        let authority = try World.authority()
        for identity in [authority.root, authority.intermediate, authority.leaf] {
            #expect(identity.notBefore == Date(timeIntervalSince1970: 1_199_145_600))
            #expect(identity.notAfter == Date(timeIntervalSince1970: 2_524_607_999))
        }
    }

    @Test("can have other periods and another algorithm")
    func otherValidity() throws {
        let created = Date(timeIntervalSince1970: 1_500_000_000)
        let end = created.addingTimeInterval(1000)
        let authority = try CertificateAuthority(
            createdAt: created,
            validity: .init(leaf: .init(notBefore: created.addingTimeInterval(1), notAfter: end)),
            signatureAlgorithm: .sha1WithRSA
        )
        #expect(authority.root.notBefore == created)
        #expect(authority.leaf.notBefore == created.addingTimeInterval(1))
        #expect(authority.leaf.notAfter == end)
        let algorithm = try ASN1Element(authority.leaf.certificate).descend(1, 0)
        #expect(algorithm.content.hex == "2a864886f70d010105", "sha1WithRSAEncryption")
    }

    @Test("can replace one certificate and keep its key and the others")
    func replacement() throws {
        let authority = try World.authority()
        let changed = try authority.replacingLeaf { $0.subject = .init(commonName: "Somebody") }
        #expect(changed.leaf.subject == .init(commonName: "Somebody"))
        #expect(changed.leaf.serialNumber == authority.leaf.serialNumber)
        #expect(changed.intermediate.certificate == authority.intermediate.certificate)
        #expect(
            try ASN1Element(changed.leaf.certificate).descend(0, 6).encoded
                == ASN1Element(authority.leaf.certificate).descend(0, 6).encoded
        )
        #expect(try authority.replacingLeaf { _ in }.leaf.certificate == authority.leaf.certificate)
        #expect(try authority.replacingRoot { _ in }.root.certificate == authority.root.certificate)
        #expect(
            try authority.replacingIntermediate { _ in }.intermediate.certificate
                == authority.intermediate.certificate
        )
    }
}

@Suite("An authority in a folder")
struct AuthorityFolderTests {
    @Test("is the same when it is opened again, and so are its faults")
    func roundTrip() throws {
        let scratch = try ScratchFolder()
        let folder = scratch.url.appendingPathComponent("deep/down")
        let made = try CertificateAuthority(folder: folder)
        let loaded = try CertificateAuthority(folder: folder)
        #expect(made.root.certificate == loaded.root.certificate)
        let receipt = try AppReceiptEncoder(authority: made).encode(World.receipt)
        #expect(try AppReceiptEncoder(authority: loaded).encode(World.receipt) == receipt)
        #expect(try loaded.replacingLeaf { _ in }.leaf.certificate == loaded.leaf.certificate)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
                "intermediate.der", "intermediate.key.pem", "leaf.der", "leaf.key.pem",
                "root.der", "root.key.pem", "root.pem",
            ]
        )
        #expect(
            try String(contentsOf: folder.appendingPathComponent("root.pem"), encoding: .utf8) == loaded.root.pem
        )
    }

    @Test("lets only its owner read the keys")
    func permissions() throws {
        let scratch = try ScratchFolder()
        _ = try CertificateAuthority(folder: scratch.url)
        for name in ["root", "intermediate", "leaf"] {
            let path = scratch.url.appendingPathComponent("\(name).key.pem").path
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o600)
        }
    }

    @Test("is created once, even by many processes at the same time")
    func race() async throws {
        let scratch = try ScratchFolder()
        let folder = scratch.url.appendingPathComponent("authority")
        let roots = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let authority = try CertificateAuthority(folder: folder)
                    return authority.root.certificate + authority.intermediate.certificate + authority.leaf.certificate
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(roots.count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.url.path) == ["authority"])
    }

    @Test("is refused if a file is missing, and not replaced")
    func incomplete() throws {
        let scratch = try ScratchFolder()
        _ = try scratch.file("letter.txt", [0x41])
        #expect(throws: MintError.self) { try CertificateAuthority(folder: scratch.url) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.url.path) == ["letter.txt"])
    }

    @Test("is refused if a key belongs to another certificate")
    func mixed() throws {
        let scratch = try ScratchFolder()
        let folder = scratch.url.appendingPathComponent("authority")
        _ = try CertificateAuthority(folder: folder)
        let leafKey = folder.appendingPathComponent("leaf.key.pem")
        try FileManager.default.removeItem(at: leafKey)
        try FileManager.default.copyItem(at: folder.appendingPathComponent("root.key.pem"), to: leafKey)
        #expect(throws: MintError.keyMismatch("leaf.key.pem")) { try CertificateAuthority(folder: folder) }
    }

    @Test("of Xcode's kind is the same when it is opened again")
    func xcode() throws {
        let scratch = try ScratchFolder()
        let made = try XcodeSigner(folder: scratch.url)
        #expect(try XcodeSigner(folder: scratch.url).identity.certificate == made.identity.certificate)
    }
}
