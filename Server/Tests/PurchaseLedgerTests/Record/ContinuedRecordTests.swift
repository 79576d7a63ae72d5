import Foundation
import PurchaseLedger
import PurchaseVerification
import Testing

/// The end of an origin after a restore from a backup (`assay audit continue`), and forgeries of it.
@Suite("A continued record")
struct ContinuedRecordTests {
    private static let next = "example.com/assay/2"

    /// A record of which a backup lacks the last entries, and the checkpoint that covers them.
    private static func restored(in parent: URL) async throws -> (world: SealedWorld, lost: Checkpoint) {
        let folder = parent.appending(path: "server")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let world = try await SealedWorld(folder)
        try await world.write(4)
        try await world.sealing.round()
        let backup = try world.crashed(into: parent)
        try await world.write(3)
        try await world.sealing.round()
        let lost = try world.published().checkpoint
        try await world.database.close()
        // The file of heads is not part of the backup.
        let (heads, old) = (world.path("log.key.heads"), SealedWorld.path("log.key.heads", backup))
        try FileManager.default.removeItem(atPath: old)
        try FileManager.default.copyItem(atPath: heads, toPath: old)
        return (try await SealedWorld(backup), lost)
    }

    @Test("Checkpoints that a restore lost are set aside only if the key that signed them signed the continuation")
    func setAside() async throws {
        try await TemporaryFolder.with { parent in
            let (world, lost) = try await Self.restored(in: parent)
            let ledger = world.world.ledger
            let key = world.signer.verifier
            #expect(try await ledger.auditLog([lost], endedKeys: [key]).findings.map(\.kind) == [.recordShorter])
            _ = try await world.sealing.end(world.signer, continuedBy: Self.next, reason: "disk failure")
            let report = try await ledger.auditLog([lost], endedKeys: [key])
            #expect(report.findings == [])
            #expect(report.continuations.count == 1 && report.continuations[0].hasSuffix("\(Self.next): disk failure"))
            // A key that is still used has not ended its origin, and another key of the same name says nothing.
            let other = try LogSigningKey(newFor: "example.com/assay").verifier
            for keys in [[], [other]] {
                let report = try await ledger.auditLog([lost], endedKeys: keys)
                #expect(report.findings.map(\.kind) == [.recordShorter])
                #expect(report.continuations.count == 1 && report.continuations[0].contains("checkpoints count"))
            }
            try await world.database.close()
        }
    }

    @Test("A key without its heads signs nothing more; a published checkpoint ends its origin, whatever the log has")
    func lostHeads() async throws {
        for isRestored in [true, false] {
            try await TemporaryFolder.with { folder in
                let (path, copy) = (folder.appending(path: "server"), folder.appending(path: "backup.sqlite"))
                try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
                var world = try await SealedWorld(path)
                let key = world.signer.verifier
                try await world.write(4)
                try await world.sealing.round()
                let early = try world.published()
                _ = try SQLiteBackup(of: world.path("assay.sqlite"), to: copy.path).write { _ in }
                try await world.write(3)
                try await world.sealing.round()
                let late = try world.published()
                try await world.database.close()
                let database = world.path("assay.sqlite")
                if isRestored {
                    for ending in ["", "-wal", "-shm"] {
                        try? FileManager.default.removeItem(atPath: database + ending)
                    }
                    try FileManager.default.copyItem(atPath: copy.path, toPath: database)
                }
                let keyFile = SealedWorld.path("lost.key", path)
                try FileManager.default.copyItem(atPath: world.path("log.key"), toPath: keyFile)
                #expect(throws: LogError.self) { try CheckpointSigner(keyFile: keyFile) }
                world = try await SealedWorld(path, signer: try CheckpointSigner(endingKeyAt: keyFile, published: late))
                #expect(world.signer.head == late.checkpoint)
                try await world.write(1)
                // Without the heads nothing is signed, also if the log extends the checkpoint.
                await #expect(throws: LogError.self) { try await world.sealing.round() }
                let (ended, _) = try await world.sealing.end(world.signer, continuedBy: Self.next, reason: "lost")
                #expect(ended == late.checkpoint)
                let (next, kept) = try world.signer.replaceKey(origin: Self.next)
                #expect(next.name == Self.next)
                #expect(try CheckpointSigner.lastSigned(keyFile: kept).checkpoint?.checkpoint == late.checkpoint)
                #expect(try CheckpointSigner.lastSigned(keyFile: keyFile).checkpoint == nil)
                let checkpoints = [early.checkpoint, late.checkpoint]
                let report = try await world.world.ledger.auditLog(checkpoints, endedKeys: [key])
                #expect(report.findings == [])
                #expect(report.continuations.count == (isRestored ? 1 : 0))
                try await world.database.close()
            }
        }
    }

    @Test("Heads that are older than the checkpoint are not believed, and newer ones are; another root is an alarm")
    func oldHeads() async throws {
        try await SealedWorld.with { world in
            try await world.write(2)
            try await world.sealing.round()
            let (early, old) = (try world.published(), try Data(contentsOf: Self.heads(world)))
            try await world.write(2)
            try await world.sealing.round()
            let (late, new) = (try world.published(), try Data(contentsOf: Self.heads(world)))
            let keyFile = world.path("copy.key")
            try FileManager.default.copyItem(atPath: world.path("log.key"), toPath: keyFile)
            let heads = URL(fileURLWithPath: keyFile + ".heads")
            try old.write(to: heads)
            #expect(try CheckpointSigner(endingKeyAt: keyFile, published: late).head == late.checkpoint)
            try new.write(to: heads)
            #expect(try CheckpointSigner(endingKeyAt: keyFile, published: early).head == late.checkpoint)
            var other = late.checkpoint
            other.root = .leaf([9])
            let key = try LogSigningKey(text: [UInt8](try Data(contentsOf: URL(fileURLWithPath: keyFile))))
            let forked = try key.signed(other)
            #expect(throws: LogError.self) { try CheckpointSigner(endingKeyAt: keyFile, published: forked) }
        }
    }

    private static func heads(_ world: SealedWorld) -> URL { URL(fileURLWithPath: world.path("log.key.heads")) }

    @Test("With the key of entries and a signing key of their own, nobody continues a record whose end they cut off")
    func forged() async throws {
        try await TemporaryFolder.with { parent in
            let folder = parent.appending(path: "victim")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let victim = try await SealedWorld(folder)
            try await victim.write(5)
            try await victim.sealing.round()
            let checkpoint = try victim.published().checkpoint
            try await victim.database.close()
            let copy = try victim.crashed(into: parent)
            for name in ["log.key", "log.key.heads"] {
                try FileManager.default.removeItem(atPath: SealedWorld.path(name, copy))
            }
            // The attacker's key has the same origin, and its heads claim a longer log.
            try CheckpointSigner.createKey(at: SealedWorld.path("log.key", copy), origin: "example.com/assay")
            try Data("1000000 \(Data(MerkleHash.leaf([1]).bytes).base64EncodedString())\n".utf8)
                .write(to: URL(fileURLWithPath: SealedWorld.path("log.key.heads", copy)))
            let attacker = try await SealedWorld(copy)
            try await attacker.tamper([
                "DELETE FROM journal WHERE entry_key = (SELECT entry_key FROM log_entries ORDER BY leaf DESC LIMIT 1)",
                "DELETE FROM log_entries WHERE leaf = (SELECT max(leaf) FROM log_entries)",
            ])
            try await attacker.database.write { _ = try ForgedLog.computeAgain($0) }
            _ = try await attacker.sealing.end(attacker.signer, continuedBy: Self.next, reason: "disk failure")
            for keys in [[], [victim.signer.verifier]] {
                let report = try await attacker.world.ledger.auditLog([checkpoint], endedKeys: keys)
                #expect(report.findings.map(\.kind) == [.recordRewritten])
            }
            try await attacker.database.close()
        }
    }
}
