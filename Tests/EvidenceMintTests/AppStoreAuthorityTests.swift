import EvidenceMint
import Foundation
import Testing

@Suite("A store's authority")
struct AppStoreAuthorityTests {
    @Test("has no name that could be mistaken for Apple's")
    func names() throws {
        let store = try World.store()
        let identities = [
            store.transactionReceipts.storeIntermediate, store.transactionReceipts.versionTwoLeaf,
            store.transactionReceipts.versionFourLeaf, store.signedPayload.root, store.signedPayload.intermediate,
            store.signedPayload.leaf, try World.xcodeSigner().payloadIdentity,
        ]
        for identity in identities {
            let name = String(decoding: identity.subject.der, as: UTF8.self)
            #expect(name.contains("Assay Simulator"))
            #expect(!name.localizedCaseInsensitiveContains("apple"))
        }
    }

    @Test("has Apple's keys, algorithms and markers", .enabled(if: OpenSSL.isInstalled, OpenSSL.absence))
    func certificates() throws {
        let store = try World.store()
        let expected: [(SigningIdentity, [String])] = [
            (store.signedPayload.root, ["(384 bit)", "ecdsa-with-SHA384", "CA:TRUE"]),
            (
                store.signedPayload.intermediate,
                ["(384 bit)", "ecdsa-with-SHA384", "CA:TRUE, pathlen:0", "1.2.840.113635.100.6.2.1:"]
            ),
            (
                store.signedPayload.leaf,
                ["(256 bit)", "prime256v1", "ecdsa-with-SHA384", "CA:FALSE", "1.2.840.113635.100.6.11.1:"]
            ),
            (
                store.transactionReceipts.storeIntermediate,
                ["(2048 bit)", "sha1WithRSAEncryption", "CA:TRUE", "1.2.840.113635.100.6.2.2:"]
            ),
            (
                store.transactionReceipts.versionTwoLeaf,
                ["(1024 bit)", "sha1WithRSAEncryption", "CA:FALSE", "1.2.840.113635.100.6.5.1:"]
            ),
            (
                store.transactionReceipts.versionFourLeaf,
                ["(2048 bit)", "sha256WithRSAEncryption", "CA:FALSE", "1.2.840.113635.100.6.11.1:"]
            ),
            (try World.xcodeSigner().payloadIdentity, ["(256 bit)", "ecdsa-with-SHA256", "CA:TRUE, pathlen:0"]),
        ]
        for (identity, words) in expected {
            let scratch = try ScratchFolder()
            let file = try scratch.file("certificate.der", identity.certificate)
            let text = try OpenSSL.run(["x509", "-inform", "DER", "-in", file, "-noout", "-text"]).text
            for word in words {
                #expect(text.contains(word), "\(word) in \(text)")
            }
        }
    }

    @Test("lists all certificates that a verifier must trust: two roots, two intermediates")
    func trust() throws {
        let store = try World.store()
        let blocks = store.trustedCertificatesPEM.components(separatedBy: "-----BEGIN CERTIFICATE-----")
        #expect(blocks.count == 5)
        for identity in [
            store.receipts.root, store.signedPayload.root, store.receipts.intermediate,
            store.transactionReceipts.storeIntermediate,
        ] {
            #expect(store.trustedCertificatesPEM.contains(identity.pem))
        }
    }
}

@Suite("A store's authority in a folder")
struct AppStoreAuthorityFolderTests {
    @Test("is the same when it is opened again, faults included, and only its owner can read the keys")
    func roundTrip() throws {
        let scratch = try ScratchFolder()
        let folder = scratch.url.appendingPathComponent("deep/down")
        let made = try AppStoreAuthority(folder: folder)
        let loaded = try AppStoreAuthority(folder: folder)
        #expect(made.trustedCertificatesPEM == loaded.trustedCertificatesPEM)
        #expect(made.signedPayload.leaf.certificate == loaded.signedPayload.leaf.certificate)
        for version in TransactionReceiptVersion.allCases {
            #expect(
                try TransactionReceiptEncoder(authority: made).encode(World.transactionReceipt, version: version)
                    == TransactionReceiptEncoder(authority: loaded).encode(World.transactionReceipt, version: version))
        }
        // ECDSA signatures differ each time, so the authority that was read back must produce the same content as the
        // first one.
        let memory = try World.store()
        for fault in TransactionReceiptFault.allCases where fault != .oversized {
            #expect(
                try TransactionReceiptEncoder(authority: loaded).encode(
                    World.transactionReceipt, version: .two, fault: fault
                ).count
                    == TransactionReceiptEncoder(authority: memory).encode(
                        World.transactionReceipt, version: .two, fault: fault
                    ).count, "\(fault)")
        }
        #expect(
            try loaded.signedPayload.replacingLeaf { _ in }.leaf.subject == made.signedPayload.leaf.subject)
        #expect(
            try String(contentsOf: folder.appendingPathComponent("trust.pem"), encoding: .utf8)
                == loaded.trustedCertificatesPEM)
        #expect(try CertificateAuthority(folder: folder).root.certificate == loaded.receipts.root.certificate)
        #expect(try Self.files(folder) == Self.layout)

        for file in Self.layout where file.hasSuffix(".key.pem") {
            let path = folder.appendingPathComponent(file).path
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o600, "\(file)")
        }
    }

    @Test("is completed if an older version made only the authority of receipts, which stays")
    func completion() throws {
        let scratch = try ScratchFolder()
        let folder = scratch.url.appendingPathComponent("authority")
        let old = try CertificateAuthority(folder: folder)
        let store = try AppStoreAuthority(folder: folder)
        #expect(store.receipts.root.certificate == old.root.certificate)
        #expect(store.receipts.leaf.certificate == old.leaf.certificate)
        #expect(try AppStoreAuthority(folder: folder).trustedCertificatesPEM == store.trustedCertificatesPEM)
        #expect(try Self.files(folder) == Self.layout)
    }

    @Test("is created once, even by many processes at the same time")
    func race() async throws {
        let scratch = try ScratchFolder()
        let folder = scratch.url.appendingPathComponent("authority")
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    let store = try AppStoreAuthority(folder: folder)
                    return store.trustedCertificatesPEM + store.signedPayload.leaf.pem
                        + store.transactionReceipts.versionTwoLeaf.pem + store.transactionReceipts.versionFourLeaf.pem
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(texts.count == 1)
        #expect(try Self.files(folder) == Self.layout)
    }

    @Test("is refused if it holds something else")
    func somethingElse() throws {
        let scratch = try ScratchFolder()
        _ = try scratch.file("letter.txt", [0x41])
        #expect(throws: MintError.self) { try AppStoreAuthority(folder: scratch.url) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.url.path) == ["letter.txt"])
    }

    @Test("of Xcode's kind keeps two certificates")
    func xcode() throws {
        let scratch = try ScratchFolder()
        let made = try XcodeSigner(folder: scratch.url)
        let loaded = try XcodeSigner(folder: scratch.url)
        #expect(loaded.payloadIdentity.certificate == made.payloadIdentity.certificate)
        #expect(loaded.trustedCertificatesPEM == made.identity.pem + made.payloadIdentity.pem)
        #expect(
            try Self.files(scratch.url) == [
                "signed-data/storekit.der", "signed-data/storekit.key.pem", "signed-data/storekit.pem", "storekit.der",
                "storekit.key.pem", "storekit.pem", "trust.pem",
            ])
    }

    private static let layout = [
        "intermediate.der", "intermediate.key.pem", "leaf.der", "leaf.key.pem", "root.der", "root.key.pem", "root.pem",
        "signed-data/intermediate.der", "signed-data/intermediate.key.pem", "signed-data/leaf.der",
        "signed-data/leaf.key.pem", "signed-data/root.der", "signed-data/root.key.pem", "signed-data/root.pem",
        "transaction-receipts/store-intermediate.der", "transaction-receipts/store-intermediate.key.pem",
        "transaction-receipts/store-intermediate.pem", "transaction-receipts/version-2-leaf.der",
        "transaction-receipts/version-2-leaf.key.pem", "transaction-receipts/version-4-leaf.der",
        "transaction-receipts/version-4-leaf.key.pem", "trust.pem",
    ]

    private static func files(_ folder: URL) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".pem") || $0.hasSuffix(".der") || $0.hasPrefix(".") }.sorted()
    }
}
