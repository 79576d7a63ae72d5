import PurchaseLedger
import TestSupport
import Testing

@Suite("Checkpoints")
struct CheckpointTests {
    // The example of Go's sumdb/note.
    private static let verifier = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
    private static let signer =
        "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
    private static let text =
        "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
    private static let note =
        text + "\n— PeterNeumann "
        + "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"

    private func key(_ text: String) throws -> LogVerifierKey { try LogVerifierKey(text: text.utf8) }

    @Test("Keys and signatures are those of the example of sumdb/note")
    func example() throws {
        let key = try key(Self.verifier)
        #expect(key.name == "PeterNeumann" && key.text == Self.verifier)
        let signing = try LogSigningKey(text: Array(Self.signer.utf8))
        #expect(signing.verifier == key && signing.text == Self.signer)
        let note = try SignedNote(Array(Self.note.utf8))
        #expect(note.text == Array(Self.text.utf8))
        try note.verify([key])
        let signature = try #require(signing.signature(of: Array(Self.text.utf8)))
        let again = SignedNote.bytes(Array(Self.text.utf8), name: key.name, keyID: key.id, signature: signature)
        try SignedNote(again).verify([key])
        #if os(Linux)
            // Ed25519 of RFC 8032 is deterministic; Apple's CryptoKit adds randomness.
            #expect(again == Array(Self.note.utf8))
        #endif
    }

    @Test("The examples of C2SP are read, and none is signed by a known key")
    func specification() throws {
        let text = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
        let checkpoint = try Checkpoint(text: Array(text.utf8))
        #expect(checkpoint.origin == "example.com/behind-the-sofa" && checkpoint.size == 20_852_163)
        #expect(checkpoint.text == Array(text.utf8))
        let note =
            text + "\n— example.com/behind-the-sofa "
            + "Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n"
        #expect(
            logFailure { try SignedCheckpoint(note: Array(note.utf8), keys: [try key(Self.verifier)]) } == .keyUnknown)
        let poem =
            "Ognuno sta solo sul cuor della terra\ntrafitto da un raggio di sole:\n\ned è subito sera.\n\n"
            + "— quasimodo.example/salvatore "
            + "NnugSzTjtVAewIS+Z/iJhUPeFDkO/5QQ2i5ddnGITLlC+EhfLW9oJKONrMouFSQU0xMcXxj99ihAQwaqP3ZekRwNtIc=\n"
        #expect(try SignedNote(Array(poem.utf8)).text.suffix(6) == Array("sera.\n".utf8))
    }

    @Test("A signed checkpoint verifies, and is identical when it is signed again")
    func signing() throws {
        let key = try LogSigningKey(newFor: "example.com/assay")
        let checkpoint = Checkpoint(origin: "example.com/assay", size: 300, root: .leaf([1]))
        let signed = try key.signed(checkpoint)
        let read = try SignedCheckpoint(note: signed.note, keys: [key.verifier])
        #expect(read == signed)
        #expect(read.checkpoint == checkpoint)
        #if os(Linux)
            #expect(try key.signed(checkpoint) == signed)
        #endif
        let other = try LogSigningKey(newFor: "example.com/assay")
        #expect(logFailure { try SignedCheckpoint(note: signed.note, keys: [other.verifier]) } == .keyUnknown)
        #expect(logFailure { try SignedCheckpoint(note: signed.note, keys: []) } == .keyUnknown)
        _ = try SignedCheckpoint(note: signed.note, keys: [other.verifier, key.verifier])
    }

    @Test("A key signs for the origin of its name only")
    func origins() throws {
        let key = try LogSigningKey(newFor: "example.com/assay")
        let signed = try key.signed(Checkpoint(origin: "example.com/other", size: 1, root: .leaf([1])))
        #expect(logFailure { try SignedCheckpoint(note: signed.note, keys: [key.verifier]) } == .keyUnknown)
    }

    @Test("A signed checkpoint with any flipped bit, any prefix of it, and one with an extra byte are refused")
    func changes() throws {
        let key = try LogSigningKey(newFor: "example.com/assay")
        let note = try key.signed(Checkpoint(origin: "example.com/assay", size: 300, root: .leaf([1]))).note
        for bit in 0..<note.count * 8 {
            var changed = note
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            try #require(logFailure { try SignedCheckpoint(note: changed, keys: [key.verifier]) } != nil, "bit \(bit)")
        }
        for count in note.indices {
            #expect(
                logFailure { try SignedCheckpoint(note: Array(note.prefix(count)), keys: [key.verifier]) } == .malformed
            )
        }
        for byte in UInt8.min...UInt8.max {
            #expect(logFailure { try SignedCheckpoint(note: note + [byte], keys: [key.verifier]) } == .malformed)
        }
    }

    @Test("Signatures of unknown keys are ignored; a wrong signature of a known key refuses the whole note")
    func severalSignatures() throws {
        let key = try LogSigningKey(newFor: "example.com/assay")
        let witness = try LogSigningKey(newFor: "witness.example.com")
        let signed = try key.signed(Checkpoint(origin: "example.com/assay", size: 3, root: .leaf([1])))
        func line(_ of: LogSigningKey, _ text: [UInt8]) throws -> [UInt8] {
            let signature = try #require(of.signature(of: text))
            return Array(
                SignedNote.bytes([], name: of.verifier.name, keyID: of.verifier.id, signature: signature).dropFirst())
        }
        let text = signed.checkpoint.text
        _ = try SignedCheckpoint(note: signed.note + line(witness, text), keys: [key.verifier])
        _ = try SignedCheckpoint(note: signed.note + line(witness, [1]), keys: [key.verifier])
        #expect(
            logFailure { try SignedCheckpoint(note: signed.note + line(key, [1]), keys: [key.verifier]) }
                == .signatureInvalid)
        let lines = try line(witness, text)
        let many = signed.note + (0..<63).flatMap { _ in lines }
        _ = try SignedCheckpoint(note: many, keys: [key.verifier])
        #expect(logFailure { try SignedCheckpoint(note: many + lines, keys: [key.verifier]) } == .malformed)
    }

    @Test(
        "Other forms of a checkpoint's text are refused",
        arguments: [
            "", "\n", "o\n1\n", "o\n1\nAAAA\n", "\n1\n\(root)\n", "o\n01\n\(root)\n", "o\n-1\n\(root)\n",
            "o\n+1\n\(root)\n",
            "o\n\n\(root)\n", "o\n9223372036854775808\n\(root)\n", "o\n1\n\(root)", "o\n1\n\(root)\nextension\n",
            "o\n1\n\(root)\n\n", "o\n 1\n\(root)\n", "o\n1\n\(root.dropLast())\n", "o\n1\n\(root.dropLast(2))l=\n",
            "o\n١\n\(root)\n",
        ])
    func malformed(text: String) {
        #expect(logFailure { try Checkpoint(text: Array(text.utf8)) } == .malformed)
    }

    private static let root = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="

    @Test("Sizes from 0 to 2⁶³ − 1 are read as they were written")
    func sizes() throws {
        for size in [0, 1, 9, 10, 255, 256, Int64.max] {
            let checkpoint = Checkpoint(origin: "o", size: size, root: .ofEmptyTree)
            #expect(try Checkpoint(text: checkpoint.text) == checkpoint)
        }
    }

    @Test("Changed keys are refused")
    func keys() throws {
        for text in [
            "", "PeterNeumann", "PeterNeumann+c74f20a3", Self.verifier + "A", String(Self.verifier.dropLast()),
            Self.verifier.replacing("c74f20a3", with: "c74f20a4"),
            Self.verifier.replacing("c74f20a3", with: "C74F20A3"),
            Self.verifier.replacing("PeterN", with: "Peter N"), Self.verifier.replacing("+ARpc", with: "+AhRpc"),
            "+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", Self.verifier + "\n",
            String(repeating: "a", count: 100_000),
        ] {
            #expect(logFailure { try LogVerifierKey(text: text.utf8) } == .malformed, "\(text.prefix(80))")
        }
        for text in ["", Self.verifier, Self.signer + "A", "PRIVATE+KEY+" + Self.verifier, Self.signer + "\n\n"] {
            #expect(logFailure { try LogSigningKey(text: Array(text.utf8)) } == .malformed, "\(text)")
        }
        for origin in ["", "a b", "a+b", "a\nb", "a\u{2003}b", "a\u{7F}b", String(repeating: "a", count: 257)] {
            #expect(logFailure { try LogSigningKey(newFor: origin) } == .malformed, "\(origin.prefix(80))")
        }
    }
}
