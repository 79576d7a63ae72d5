import Foundation
import PurchaseLedger
import PurchaseVerification
import Testing

@Suite("Keys of the record", .folder)
struct KeyFileTests {
    let folder: URL = CurrentWorld.opened()

    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    private func write(_ text: String, _ path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    @Test("New keys are files of mode 0600, are never replaced, and leave no other file")
    func creation() async throws {
        let (entries, log) = (SealedWorld.path("entries", folder), SealedWorld.path("log", folder))
        _ = try EntryKey.create(at: entries)
        let verifier = try CheckpointSigner.createKey(at: log, origin: "example.com/assay")
        for path in [entries, log, log + ".heads"] { #expect(try mode(path) == 0o600, "\(path)") }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.sorted() == ["entries", "log", "log.heads"])
        let before = try Data(contentsOf: URL(fileURLWithPath: log))
        #expect(logFailure { try EntryKey.create(at: entries) } == .fileExists)
        #expect(logFailure { try CheckpointSigner.createKey(at: log, origin: "example.com/assay") } == .fileExists)
        #expect(try Data(contentsOf: URL(fileURLWithPath: log)) == before)
        let signer = try CheckpointSigner(keyFile: log)
        #expect(signer.verifier == verifier)
        #expect(signer.head == Checkpoint(origin: "example.com/assay", size: 0, root: .ofEmptyTree))
    }

    @Test("A key that others may read is refused", arguments: [0o640, 0o604, 0o644, 0o660, 0o601])
    func modes(mode: Int) async throws {
        let (entries, log) = (SealedWorld.path("entries", folder), SealedWorld.path("log", folder))
        _ = try EntryKey.create(at: entries)
        try CheckpointSigner.createKey(at: log, origin: "example.com/assay")
        for path in [entries, log] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        #expect(logFailure { try EntryKey(file: entries) } == .fileMode)
        #expect(logFailure { try EntryKey.openOrCreate(at: entries) } == .fileMode)
        #expect(logFailure { try CheckpointSigner(keyFile: log) } == .fileMode)
    }

    @Test("Missing, empty, cut and long files are refused")
    func malformed() async throws {
        let (entries, log) = (SealedWorld.path("entries", folder), SealedWorld.path("log", folder))
        #expect(logFailure { try EntryKey(file: entries) } == .fileMissing)
        #expect(logFailure { try CheckpointSigner(keyFile: log) } == .fileMissing)
        _ = try EntryKey.create(at: entries)
        let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: entries)), as: UTF8.self)
        for count in 0..<text.utf8.count {
            try write(String(text.prefix(count)), entries)
            #expect(logFailure { try EntryKey(file: entries) } == .malformed, "\(count) bytes")
        }
        for other in [text + "\n", text + text, String(repeating: "a", count: 10_000), " " + text] {
            try write(other, entries)
            #expect(logFailure { try EntryKey(file: entries) } == .malformed)
            try write(other, log)
            #expect(logFailure { try CheckpointSigner(keyFile: log) } == .malformed)
        }
    }

    @Test("Servers that start together share one key of entries")
    func race() async throws {
        let path = SealedWorld.path("entries", folder)
        let codes = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<16 {
                group.addTask { try EntryKey.openOrCreate(at: path).code(of: [1, 2, 3]) }
            }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(codes.count == 1)
    }

    @Test("Of two signers with one key, one signs; when it ends, the other can")
    func lock() async throws {
        let path = SealedWorld.path("log", folder)
        try CheckpointSigner.createKey(at: path, origin: "example.com/assay")
        do {
            let first = try CheckpointSigner(keyFile: path)
            #expect(logFailure { try CheckpointSigner(keyFile: path) } == .signerBusy)
            #expect(first.head.size == 0)
        }
        _ = try CheckpointSigner(keyFile: path)
    }

    @Test("A partly written head counts as unsigned, and the one before it is used")
    func tornHeads() async throws {
        let (path, heads) = (SealedWorld.path("log", folder), SealedWorld.path("log.heads", folder))
        try CheckpointSigner.createKey(at: path, origin: "example.com/assay")
        var roots: [MerkleHash] = [.ofEmptyTree]
        var whole = [try Data(contentsOf: URL(fileURLWithPath: heads))]
        for size in 1...3 {
            let signer = try CheckpointSigner(keyFile: path)
            var edge = MerkleAppender()
            for leaf in 0..<size - 1 { _ = edge.append(.leaf([UInt8(leaf)])) }
            try signer.begin(edge)
            signer.extend([.leaf([UInt8(size - 1)])])
            _ = edge.append(.leaf([UInt8(size - 1)]))
            _ = try signer.sign(edge.root())
            roots.append(edge.root())
            whole.append(try Data(contentsOf: URL(fileURLWithPath: heads)))
        }
        for size in 1...3 {
            #expect(whole[size].starts(with: whole[size - 1]), "heads are appended")
            for count in whole[size - 1].count...whole[size].count {
                try write(String(decoding: whole[size].prefix(count), as: UTF8.self), heads)
                let signed = count == whole[size].count ? size : size - 1
                let head = try CheckpointSigner(keyFile: path).head
                try #require(head.size == Int64(signed) && head.root == roots[signed], "\(count) bytes")
                try #require(try Data(contentsOf: URL(fileURLWithPath: heads)) == whole[signed])
            }
        }
        let root = String(decoding: whole[0].dropFirst(2), as: UTF8.self)
        for text in ["", "1", "\n", "1 \n", "x y\n", "-1 " + root, "01 " + root] {
            try write(text, heads)
            #expect(logFailure { try CheckpointSigner(keyFile: path) } == .malformed, "\(text)")
        }
        try FileManager.default.removeItem(atPath: heads)
        #expect(logFailure { try CheckpointSigner(keyFile: path) } == .headsMissing)
        #expect(logFailure { try CheckpointSigner.lastSigned(keyFile: path) } == .headsMissing)
        #expect(try CheckpointSigner.verifier(keyFile: path).name == "example.com/assay")
        #expect(try CheckpointSigner.lostKey(at: path) == nil)
    }

    @Test("A key that signed is not replaced if its file is missing; one that signed nothing is")
    func lostKey() async throws {
        let path = SealedWorld.path("log", folder)
        try CheckpointSigner.createKey(at: path, origin: "example.com/assay")
        try FileManager.default.removeItem(atPath: path)
        #expect(try CheckpointSigner.lostKey(at: path) == nil)
        let isNew = try CheckpointSigner.createKeyIfMissing(at: path, origin: "example.com/assay")
        #expect(isNew)
        try {
            let signer = try CheckpointSigner(keyFile: path)
            try signer.begin(MerkleAppender())
            signer.extend([.leaf([1])])
            _ = try signer.sign(.leaf([1]))
        }()
        #expect(try CheckpointSigner.lostKey(at: path) == nil)
        try FileManager.default.removeItem(atPath: path)
        #expect(try CheckpointSigner.lostKey(at: path)?.code == .signingKeyMissing)
        #expect(logFailure { try CheckpointSigner.createKeyIfMissing(at: path) } == .signingKeyMissing)
        // A file that cannot be read does not say that nothing was signed.
        let heads = try Data(contentsOf: URL(filePath: path + ".heads"))
        try write("x", path + ".heads")
        #expect(logFailure { _ = try CheckpointSigner.lostKey(at: path) } == .malformed)
        #expect(logFailure { try CheckpointSigner.createKeyIfMissing(at: path) } == .malformed)
        try heads.write(to: URL(filePath: path + ".heads"))
        #expect(logFailure { try CheckpointSigner(keyFile: path) } == .fileMissing)
        // As the message says.
        try FileManager.default.moveItem(atPath: path + ".heads", toPath: path + ".old")
        let isMade = try CheckpointSigner.createKeyIfMissing(at: path)
        #expect(isMade)
    }

    #if os(Linux)
        @Test("After the disk was full, the next head replaces a partial line, without a restart")
        func fullDisk() async throws {
            try await TemporaryFolder.with { folder in
                let (path, heads) = (SealedWorld.path("log", folder), SealedWorld.path("log.heads", folder))
                try CheckpointSigner.createKey(at: path, origin: "example.com/assay")
                let signer = try CheckpointSigner(keyFile: path)
                try signer.begin(MerkleAppender())
                let before = try Data(contentsOf: URL(fileURLWithPath: heads))
                let descriptor = try #require(
                    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").first { name in
                        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")) == heads
                    }.flatMap { Int32($0) })
                let kept = dup(descriptor)
                let full = open("/dev/full", O_RDWR)
                dup2(full, descriptor)
                var edge = MerkleAppender()
                for leaf in 1...2 as ClosedRange<UInt8> {
                    signer.extend([.leaf([leaf])])
                    _ = edge.append(.leaf([leaf]))
                    #expect(logFailure { try signer.sign(edge.root()) } == .fileFailed)
                    #expect(signer.head.size == 0)
                }
                // What a full disk leaves of a line.
                try Data("2 abc".utf8).withUnsafeBytes { bytes in
                    try #require(Foundation.write(kept, bytes.baseAddress, bytes.count) == bytes.count)
                }
                dup2(kept, descriptor)
                for descriptor in [kept, full] { close(descriptor) }
                let signed = try signer.sign(edge.root())
                #expect(signed.checkpoint.size == 2 && signer.head == signed.checkpoint)
                let line = "2 \(Data(edge.root().bytes).base64EncodedString())\n"
                #expect(try Data(contentsOf: URL(fileURLWithPath: heads)) == before + Data(line.utf8))
            }
        }
    #endif

    @Test("A long file of heads is rewritten with only the last one")
    func longHeads() async throws {
        let (path, heads) = (SealedWorld.path("log", folder), SealedWorld.path("log.heads", folder))
        try CheckpointSigner.createKey(at: path, origin: "example.com/assay")
        let line = try Data(contentsOf: URL(fileURLWithPath: heads))
        var long = Data()
        while long.count <= 1 << 20 { long += line }
        try long.write(to: URL(fileURLWithPath: heads))
        let signer = try CheckpointSigner(keyFile: path)
        try signer.begin(MerkleAppender())
        signer.extend([.leaf([1])])
        _ = try signer.sign(.leaf([1]))
        #expect(try Data(contentsOf: URL(fileURLWithPath: heads)).count < 200)
        #expect(signer.head.root == .leaf([1]))
    }
}
