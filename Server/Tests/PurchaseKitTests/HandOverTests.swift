import Foundation
import KitTestSupport
import PurchaseKit
import Synchronization
import Testing

/// A guest whose purchases are handed to a customer with a login while something is under way.
@Suite("The hand-over of a guest")
struct HandOverTests {
    @Test(
        "1.3 A claim that is answered or lost after the hand-over is the customer's", .timeLimit(.minutes(10)),
        arguments: [true, false])
    func claim(isLost: Bool) async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(isSignedIn: false)
            let guest = try await engine.signInAsGuest()
            // The server merges only customers that it knows.
            #expect(await engine.buy("pro").code == "granted")
            let gate = Gate()
            device.link.intercept { request, forward in
                guard request.path == "/v1/purchases", !gate.isHolding else { return try await forward(request) }
                if isLost {
                    try await gate.hold()
                    throw LineCut()
                }
                let answer = try await forward(request)
                try await gate.hold()
                return answer
            }
            let buying = Task { await engine.buy("coins", quantity: 3) }
            while !gate.isHolding { try await device.settle() }
            try await engine.signIn(PurchaseCustomer(id: device.customer)) { try await world.merge($0, into: $1) }
            gate.open()
            #expect(await buying.value.code == (isLost ? "connection_failed" : "granted"))
            device.time.pass(60)
            await engine.retryDue()
            #expect(try await engine.balance(of: "coins") == 3)
            let purchases = try await engine.purchases()
            #expect(purchases.count == 2 && purchases.allSatisfy { $0.customerID == device.customer })
            #expect(try await engine.diagnostics().waiting.isEmpty)
            #expect(try await device.unfinished() == 0)
            #expect(try await device.coins() == 3)
            // The next request is about the customer, also in another run.
            let sent = device.link.paths.count
            let later = try await device.engine()
            await later.refreshEntitlements(evenIfKnown: true)
            #expect(try await later.balance(of: "coins") == 3)
            #expect(try !device.link.customers().dropFirst(sent).contains(guest.id))
        }
    }

    @Test("1.3 A payment that the customer confirms after the hand-over is theirs", .timeLimit(.minutes(10)))
    func payment() async throws {
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(isSignedIn: false)
            try await engine.signInAsGuest()
            #expect(await engine.buy("coins").code == "granted")
            let sent = device.link.paths.count
            device.queue.isAsking.withLock { $0 = true }
            let buying = Task { await engine.buy("pro") }
            while try await engine.diagnostics().startedPurchases == 0 { try await device.settle() }
            try await engine.signIn(PurchaseCustomer(id: device.customer)) { try await world.merge($0, into: $1) }
            device.queue.isAsking.withLock { $0 = false }
            #expect(await buying.value.code == "granted")
            #expect(Set(try device.link.customers().dropFirst(sent)) == [device.customer])
            #expect(try await engine.active() == ["coins", "pro"])
            #expect(try await engine.diagnostics().startedPurchases == 0)
            #expect(try await device.unfinished() == 0)
        }
    }

    @Test("1.10 The last 50 guests are remembered, so that a device of many customers keeps a small record")
    func manyGuests() async throws {
        struct Stored: Decodable { let merged: [String: String] }
        try await KitWorld.run { world in
            let device = try await world.device()
            let engine = try await device.engine(isSignedIn: false)
            var guests: [String] = []
            for _ in 0..<60 {
                guests.append(try await engine.signInAsGuest().id)
                try await engine.signIn(PurchaseCustomer(id: device.customer)) { $1 }
            }
            let document = try #require(try device.store.read())
            let stored = try JSONDecoder().decode(Stored.self, from: Data(document))
            #expect(Set(stored.merged.keys) == Set(guests.suffix(50)))
        }
    }
}

/// Holds a request until the test opens it.
private final class Gate: Sendable {
    private let state = Mutex((isHolding: false, isOpen: false))

    var isHolding: Bool { state.withLock { $0.isHolding } }
    func open() { state.withLock { $0.isOpen = true } }

    func hold() async throws {
        state.withLock { $0.isHolding = true }
        while !state.withLock({ $0.isOpen }) { try await Task.sleep(for: .milliseconds(5)) }
    }
}
