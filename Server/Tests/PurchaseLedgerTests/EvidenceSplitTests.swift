import Crypto
import EvidenceMint
import Foundation
import PurchaseLedger
import TestSupport
import Testing

@Suite("Evidence split for storage")
struct EvidenceSplitTests {
    /// The stored form, with the shared parts numbered from 1; `nil` if the evidence is stored unchanged.
    private func split(_ evidence: [UInt8], sharesParts: Bool) -> (bytes: [UInt8], parts: [[UInt8]])? {
        guard let compressed = CompressedEvidence(evidence, sharesParts: sharesParts) else { return nil }
        return (compressed.stored(keys: compressed.parts.indices.map { Int64($0 + 1) }), compressed.parts)
    }

    /// The result of reading the stored bytes.
    private func read(_ stored: [UInt8], parts: [[UInt8]], size: Int) throws -> [UInt8]? {
        guard let dictionary = StoredContent.form(stored)?.dictionary else { return nil }
        return try CompressedEvidence.evidence(stored, dictionary, size: size) { key throws(LedgerStorageError) in
            parts.indices.contains(Int(key) - 1) ? parts[Int(key) - 1] : nil
        }
    }

    private func requireRoundTrip(_ evidence: [UInt8], _ name: @autoclosure () -> String) throws {
        for sharesParts in [true, false] {
            guard let stored = split(evidence, sharesParts: sharesParts) else { continue }
            let found = try read(stored.bytes, parts: stored.parts, size: evidence.count)
            #expect(found == evidence, "\(name()), shared parts: \(sharesParts)")
        }
    }

    /// Base64 of bytes as clients write it.
    private func writings(_ bytes: [UInt8]) -> [[UInt8]] {
        let text = Data(bytes).base64EncodedString()
        let lines = Data(bytes).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        let windowsLines = Data(bytes).base64EncodedString(options: .lineLength76Characters)
        let urlSafe = text.replacing("+", with: "-").replacing("/", with: "_")
        return [
            text, text + "\n", lines, windowsLines, windowsLines + "\r\n\r\n", urlSafe,
            urlSafe.replacing("=", with: ""),
            " " + text, text + "=", text.replacing("A", with: "\n"),
        ].map { Array($0.utf8) }
    }

    private func mintedEvidence() throws -> [[UInt8]] {
        var evidence = try MintedWorld.signedPayload().map { try MintedWorld.mint($0) }
        evidence.append(try MintedWorld.mint())
        for version in MintedVersion.allCases {
            evidence.append(try MintedWorld.mint(MintedWorld.transactionReceipt(), version))
        }
        return evidence
    }

    @Test("Minted evidence of every kind is restored byte for byte, in every encoding")
    func minted() throws {
        for evidence in try mintedEvidence() {
            try requireRoundTrip(evidence, "bare")
            for text in writings(evidence) {
                try requireRoundTrip(text, String(decoding: text.prefix(20), as: UTF8.self))
            }
        }
    }

    @Test("A signed transaction takes at most 260 bytes beside its certificates, and a receipt of one purchase 980")
    func sizes() throws {
        let transaction = try #require(split(try LedgerWorld.signed("2000000830000007"), sharesParts: true))
        #expect(transaction.bytes.count <= 260 && transaction.parts.count == 1)
        let purchase = PurchaseTemplate.consumable(
            productID: LedgerWorld.coins, transactionID: "2000000830000007", purchaseDate: MintedWorld.moment)
        let receipt = try #require(split(try LedgerWorld.receipt([purchase]), sharesParts: true))
        #expect(receipt.bytes.count <= 980 && receipt.parts.count == 1)
        let notification = try #require(split(try MintedWorld.mint(MintedWorld.notification()), sharesParts: true))
        #expect(notification.bytes.count <= 600)
        // The three nested payloads have one signer.
        #expect(notification.parts.count == 1)
        print(
            "stored: transaction \(transaction.bytes.count), receipt \(receipt.bytes.count), "
                + "notification \(notification.bytes.count)")
    }

    @Test(
        "Real evidence comes back byte for byte; medians are at most 260 bytes for signed data and 980 for receipts",
        .enabled(if: Corpus.isPresent, Comment(rawValue: Corpus.absence)))
    func corpus() throws {
        var sizes: [String: [Int]] = [:]
        for item in try Corpus.items() {
            let evidence = try item.bytes()
            try requireRoundTrip(evidence, item.file)
            let kind = item.kind.hasPrefix("jws-") ? "jws" : item.kind
            if kind == "app-receipt", !(1...10).contains(item.inAppCount ?? 0) { continue }
            if let stored = split(evidence, sharesParts: true) { sizes[kind, default: []].append(stored.bytes.count) }
        }
        func median(_ kind: String) throws -> Int {
            let sorted = try #require(sizes[kind]).sorted()
            return sorted[sorted.count / 2]
        }
        print(
            "stored, medians: signed data \(try median("jws")), receipts \(try median("app-receipt")), "
                + "transaction receipts \(try median("transaction-receipt"))")
        #expect(try median("jws") <= 260)
        #expect(try median("app-receipt") <= 980)
    }

    @Test("Truncated, changed, joined and random evidence is restored byte for byte")
    func mutated() throws {
        var generator = SeededGenerator(seed: 14)
        let minted = try mintedEvidence()
        let sources = minted + minted.flatMap { writings($0).prefix(4) }
        for evidence in sources {
            for _ in 0..<12 {
                var changed = evidence
                switch Int.random(in: 0..<6, using: &generator) {
                case 0: changed = Array(changed.prefix(Int.random(in: 0...changed.count, using: &generator)))
                case 1: changed = Array(changed.suffix(Int.random(in: 0...changed.count, using: &generator)))
                case 2:
                    let other = sources[Int.random(in: 0..<sources.count, using: &generator)]
                    changed.insert(contentsOf: other, at: Int.random(in: 0...changed.count, using: &generator))
                case 3:
                    let place = Int.random(in: 0..<changed.count, using: &generator)
                    changed[place] = UInt8.random(in: 0...255, using: &generator)
                case 4:
                    // Base64 in base64 in base64.
                    for _ in 0..<7 where changed.count < 20_000 {
                        changed = Array(Data(changed).base64EncodedData())
                    }
                default:
                    for _ in 0..<8 {
                        let place = Int.random(in: 0..<changed.count, using: &generator)
                        changed[place] = Array(".=-_/+\n\"{0".utf8).randomElement(using: &generator) ?? 0
                    }
                }
                try requireRoundTrip(changed, "seed 14")
            }
        }
        for count in [0, 1, 2, 63, 64, 65, 255, 4096] {
            for alphabet in [Array(0...255), Array("ABab01+/=\n".utf8), Array("eyJ.eyJ.AAAA".utf8)] {
                let random = (0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
                try requireRoundTrip(random, "random")
            }
        }
    }

    @Test("A change of any stored byte is detected, and so is an added or removed byte")
    func storedBytes() throws {
        for evidence in [try LedgerWorld.signed("1"), try LedgerWorld.receipt(MintedWorld.purchases())] {
            let stored = try #require(split(evidence, sharesParts: true)).bytes
            for place in stored.indices {
                for bit in 0..<8 {
                    var changed = stored
                    changed[place] ^= 1 << UInt8(bit)
                    #expect(StoredContent.form(changed) == nil, "bit \(bit) of byte \(place)")
                }
            }
            for count in stored.indices { #expect(StoredContent.form(Array(stored.prefix(count))) == nil) }
            #expect(StoredContent.form(stored + [0]) == nil)
        }
    }

    @Test("Hostile stored bytes with a right checksum give other bytes or none, and never more than the row's size")
    func hostileContent() throws {
        var generator = SeededGenerator(seed: 41)
        let evidence = try LedgerWorld.signed("1")
        let genuine = try #require(split(evidence, sharesParts: true))
        func check(_ content: [UInt8], size: Int) throws {
            guard let form = StoredContent.form(genuine.bytes) else { return }
            let sealed = StoredContent.sealed(form, content)
            if let found = try read(sealed, parts: genuine.parts, size: size) { #expect(found.count <= size) }
        }
        let content = Array(genuine.bytes.dropFirst(5))
        for place in content.indices {
            var changed = content
            changed[place] = UInt8.random(in: 0...255, using: &generator)
            try check(changed, size: evidence.count)
            let cut = StoredContent.sealed(.splitClaims1, Array(content.prefix(place)))
            #expect(try read(cut, parts: genuine.parts, size: evidence.count) == nil)
        }
        // A stream without an end, and changed sizes.
        let longer = StoredContent.sealed(.splitClaims1, content + [0])
        #expect(try read(longer, parts: genuine.parts, size: evidence.count) == nil)
        for size in [0, 1, evidence.count - 1, Int.max / 8] { try check(content, size: size) }
        for _ in 0..<2000 {
            let random = (0..<Int.random(in: 0...80, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            try check(random, size: 5000)
        }
    }

    @Test("A hostile list of pieces ends, and produces no more bytes than its limit")
    func hostileShapes() {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<20_000 {
            var split = SplitEvidence()
            split.shape = (0..<Int.random(in: 0...24, using: &generator)).map { _ in
                UInt8.random(in: 0...9, using: &generator)
            }
            split.literals = [UInt8](repeating: 65, count: Int.random(in: 0...9, using: &generator))
            split.opaque = [UInt8](repeating: 66, count: Int.random(in: 0...9, using: &generator))
            split.parts = [[UInt8](repeating: 67, count: 300)]
            #expect((split.joined(limit: 1000)?.count ?? 0) <= 1000)
        }
        var repeated = SplitEvidence()
        repeated.parts = [[UInt8](repeating: 67, count: 1 << 14)]
        repeated.shape = (0..<100_000).flatMap { _ in [3, 0] as [UInt8] }
        #expect(repeated.joined(limit: 1 << 16) == nil)
        var deep = SplitEvidence()
        deep.shape = (0..<100_000).flatMap { _ in [4, 0] as [UInt8] }
        #expect(deep.joined(limit: 1 << 16) == nil)
    }

    @Test("A dictionary never changes, because stored evidence needs it")
    func dictionaries() {
        let digests = CompressionDictionary.allCases.map {
            "\($0.rawValue) " + SHA256.hash(data: $0.bytes).map { String(format: "%02x", $0) }.joined()
        }
        #expect(
            digests == [
                "1 188e0b4b6bd6cf371ab4f7213efa428fd8844fd0976a44534d51432b51918aca",
                "2 f6cd313d895c5f13b32c2cb0b7ac8773833b30d3a3931885c0a8d4026304e179",
                "3 3aa94f620762a1404dd4bb90107cb549f749ff57d20db6eea157655121a430a0",
            ])
    }
}
