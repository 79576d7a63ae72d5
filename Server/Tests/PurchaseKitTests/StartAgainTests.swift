import Foundation
import KitTestSupport
import PurchaseKit
import Synchronization
import Testing

/// The kit starts again after its store failed.
@Suite("Starting again")
struct StartAgainTests {
    @Test("1.9 A full disk is one failure, however many purchases wait, and is tried again after seconds")
    func oneFailure() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            for _ in 0..<12 { _ = try await device.sell("coins") }
            let store = FullStore(device.store)
            let engine = try await device.engine(store: store)
            store.isFull.withLock { $0 = true }
            await engine.start()
            #expect(try await device.unfinished() == 12)
            store.isFull.withLock { $0 = false }
            device.time.pass(5)
            await engine.retryDue()
            #expect(try await device.unfinished() == 0)
            #expect(try await device.coins() == 12)
        }
    }

    @Test("1.9 After a full disk the app starts again when it comes to the foreground", .timeLimit(.minutes(10)))
    func foreground() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            _ = try await device.sell("coins")
            let (store, life) = (FullStore(device.store), KitLife())
            let engine = try await device.engine(store: store, life: life)
            store.isFull.withLock { $0 = true }
            let run = Task { await engine.run() }
            defer { run.cancel() }
            // The look is the end of a start. No time passes, so the pause does not end.
            while device.queue.reads.withLock({ $0 }) == 0 { try await device.settle() }
            #expect(try await device.unfinished() == 1)
            store.isFull.withLock { $0 = false }
            life.send(.foreground)
            while try await device.unfinished() > 0 { try await device.settle() }
            #expect(try await device.coins() == 1)
        }
    }
}

/// A store on a disk that is full while the test says so.
private final class FullStore: PurchaseStore {
    private let store: FilePurchaseStore
    let isFull = Mutex(false)

    init(_ store: FilePurchaseStore) { self.store = store }

    func read() throws -> [UInt8]? { try store.read() }
    func write(_ document: [UInt8]) throws {
        if isFull.withLock({ $0 }) { throw PurchaseError(.storeFailed, found: "no space left on device") }
        try store.write(document)
    }
    func evidence(_ name: String) throws -> [UInt8]? { try store.evidence(name) }
    func keepEvidence(_ evidence: [UInt8], _ name: String) throws { try store.keepEvidence(evidence, name) }
    func removeEvidence(_ name: String) throws { try store.removeEvidence(name) }
}
