import Foundation
import PurchaseKit
import Testing

/// What a screen shows, and for how long.
@Suite("What is shown", .timeLimit(.minutes(10)))
struct ShownTests {
    @Test("On a new phone the model is loaded when the first look has ended, and again for another customer")
    @MainActor
    func loading() async throws {
        let probe = try Probe()
        for customer in ["alice", "bob"] {
            let first = try probe.engine(store: ProbeStore())
            await first.signIn(PurchaseCustomer(id: customer))
            probe.queue.listed.change { $0 = [] }
            let bought = try probe.queue.sell("monthly")
            #expect(await first.handle(bought).code == "granted")
        }
        func list(_ number: Int) {
            probe.queue.listed.change { $0 = [probe.queue.sold.value[number].transactionID ?? ""] }
        }
        list(0)
        let engine = try probe.engine()
        let model = PurchaseModel(engine)
        for (place, customer) in ["alice", "bob"].enumerated() {
            list(place)
            probe.server.isSlow.change { $0 = true }
            let sent = probe.server.sent.value.count
            let signIn = Task { await engine.signIn(PurchaseCustomer(id: customer)) }
            try await wait { probe.server.sent.value.count > sent }
            try await wait { !model.isLoaded }
            #expect(!model.isActive("monthly"))
            probe.server.isSlow.change { $0 = false }
            try await wait { model.isLoaded }
            #expect(model.isActive("monthly"))
            await signIn.value
        }
        // The next launch knows it without a network, unless it has ended since.
        probe.server.isCut.change { $0 = true }
        #expect(try await probe.loads())
        probe.time.pass(days: 40)
        probe.server.isCut.change { $0 = false }
        probe.server.isSlow.change { $0 = true }
        #expect(try await !probe.loads())
        probe.server.isSlow.change { $0 = false }
    }

    @Test("Without a network the first look ends, too, and the shop is shown")
    @MainActor
    func loadingOffline() async throws {
        let probe = try Probe()
        probe.server.isCut.change { $0 = true }
        let engine = try probe.engine()
        await engine.signIn(PurchaseCustomer(id: "alice"))
        try probe.queue.sell("pro")
        let model = PurchaseModel(engine)
        try await wait { model.isLoaded }
        #expect(model.entitlements.isEmpty)
    }

    @Test("Before somebody is signed in or out nothing is known, also after a look and on the next launch")
    func beforeLogin() async throws {
        let probe = try Probe()
        try probe.queue.sell("monthly")
        let engine = try probe.engine()
        await engine.start()
        #expect(await !engine.isLoadedNow())
        await engine.signOut()
        #expect(await engine.isLoadedNow())
        await engine.signIn(PurchaseCustomer(id: "alice"))
        #expect(await engine.isLoadedNow())
        #expect(try await engine.active() == ["monthly"])
        // What has ended may have been renewed.
        for (days, isKnown) in [(1.0, true), (40.0, false)] {
            probe.time.pass(days: days)
            let next = try probe.engine()
            await next.start()
            #expect(await next.isLoadedNow() == isKnown)
        }
    }

    @Test("Who had nothing at the last launch may have bought on another device: a first look comes before the shop")
    func boughtElsewhere() async throws {
        let probe = try Probe()
        func engine() async throws -> PurchaseEngine {
            let engine = try probe.engine(token: { "token-\($0)" })
            await engine.signIn(PurchaseCustomer(id: "alice"))
            return engine
        }
        let first = try await engine()
        await first.refreshEntitlements()
        #expect(await first.isLoadedNow())
        try probe.queue.sell("pro")
        let second = try await engine()
        #expect(await !second.isLoadedNow())
        await second.refreshEntitlements()
        #expect(await second.isLoadedNow())
        #expect(try await second.active() == ["pro"])
        // A look that fails is one, too.
        let third = try probe.engine(store: ProbeStore())
        await third.signIn(PurchaseCustomer(id: "bob"))
        probe.server.isCut.change { $0 = true }
        await third.refreshEntitlements()
        #expect(await third.isLoadedNow())
    }

    @Test("The tests of an app make what the kit tells: renewals and the state for an error report")
    func ownValues() {
        let renewal = PurchaseRenewal(
            autoRenew: true, offer: PurchaseRenewal.Offer(type: 1), commitment: PurchaseRenewal.Commitment(periods: 12),
            signedAt: Date(timeIntervalSince1970: 0))
        #expect(renewal.offer?.type == 1 && renewal.commitment?.periods == 12 && renewal.autoRenew == true)
        let state = PurchaseDiagnostics(waiting: [PurchaseDiagnostics.Waiting(productID: "pro", attempts: 2)])
        #expect(state.waiting.map(\.attempts) == [2] && !state.isSignedIn)
    }

    @Test("A look by one customer says nothing about another's ends")
    func looksOfCustomers() async throws {
        let probe = try Probe()
        let engine = try probe.engine()
        for customer in ["alice", "bob"] {
            await engine.signIn(PurchaseCustomer(id: customer))
            #expect(await engine.buy("weekly").code == "granted")
        }
        probe.time.pass(days: 7.2)
        await engine.refreshEntitlements()
        #expect(try await engine.active().isEmpty)
        probe.server.isCut.change { $0 = true }
        await engine.signIn(PurchaseCustomer(id: "alice"))
        await engine.refreshEntitlements()
        #expect(try await engine.active() == ["weekly"])
    }

    @Test("A look that could read nothing is none: what has ended counts for the leeway")
    func nothingRead() async throws {
        let probe = try Probe()
        let engine = try probe.engine(hasServer: false)
        #expect(await engine.buy("weekly").code == "granted")
        probe.queue.cannotList.change { $0 = true }
        probe.time.pass(days: 7.5)
        await engine.refreshEntitlements()
        #expect(try await engine.active() == ["weekly"])
        probe.queue.cannotList.change { $0 = false }
        await engine.refreshEntitlements()
        #expect(try await engine.active().isEmpty)
    }

    @Test("An environment that the system does not know is not asked for at each transaction")
    func environment() async throws {
        let probe = try Probe()
        let engine = try probe.engine(hasServer: false)
        probe.queue.environmentName.change { $0 = nil }
        for _ in 0..<5 { #expect(await engine.handle(try probe.queue.sell("coins")).code == "granted") }
        #expect(probe.queue.environmentReads.value == 1)
        probe.time.pass(days: 1)
        probe.queue.environmentName.change { $0 = "Sandbox" }
        await engine.refreshEntitlements()
        #expect(try await engine.diagnostics().environment == "Sandbox")
    }

    @Test(
        "A period that ends is looked at once before it is taken away, and a renewal keeps it",
        arguments: [true, false])
    func end(hasServer: Bool) async throws {
        for renews in [true, false] {
            let probe = try Probe()
            let engine = try probe.engine(hasServer: hasServer)
            await engine.signIn(PurchaseCustomer(id: "alice"))
            #expect(await engine.buy("weekly").code == "granted")
            let run = Task { await engine.run() }
            defer { run.cancel() }
            try await wait { probe.queue.isHeard }
            let states = Locked<[Bool]>([])
            let following = Task {
                for await all in engine.entitlementUpdates() {
                    states.change { $0.append(all.contains(where: \.isActive)) }
                }
            }
            defer { following.cancel() }
            try await wait { states.value == [true] }
            probe.time.pass(days: 6.9)
            if renews {
                // It comes from another device.
                let renewal = try probe.queue.sell("weekly", original: probe.queue.sold.value[0].transactionID)
                probe.queue.finished.change { $0.insert(renewal.transactionID ?? "") }
            }
            probe.time.pass(days: 0.2)
            let end = probe.time.now
            try await wait {
                let weekly = try await engine.entitlements().first
                return renews ? weekly?.until ?? end > end : weekly?.isActive == false
            }
            try await wait { states.value.last == renews }
            #expect(states.value == (renews ? states.value.filter { $0 } : [true, false]))
        }
    }

    @Test("While nobody can be asked, an ended period counts for the leeway, and a signed refund at once")
    func leeway() async throws {
        let probe = try Probe()
        let engine = try probe.engine()
        await engine.signIn(PurchaseCustomer(id: "alice"))
        #expect(await engine.buy("weekly").code == "granted")
        probe.server.isCut.change { $0 = true }
        probe.time.pass(days: 7.5)
        await engine.refreshEntitlements()
        #expect(try await engine.active() == ["weekly"])
        #expect(try await probe.engine(offline: OfflineLimit(leeway: 0)).active().isEmpty)
        probe.time.pass(days: 0.6)
        await engine.refreshEntitlements()
        #expect(try await engine.active().isEmpty)
        // Refunded in the leeway.
        let other = try Probe()
        let second = try other.engine()
        await second.signIn(PurchaseCustomer(id: "alice"))
        #expect(await second.buy("weekly").code == "granted")
        other.server.isCut.change { $0 = true }
        other.time.pass(days: 7.5)
        #expect(try await second.active() == ["weekly"])
        _ = await second.handle(try other.queue.refund(other.queue.sold.value[0]))
        #expect(try await second.active().isEmpty)
    }

    @Test("A widget shows a period that has ended for the leeway, as the app does, and a pass until its end")
    func widget() async throws {
        let probe = try Probe()
        let engine = try probe.engine(hasServer: false, lengths: ["pass": PurchasePeriod(1, .month)])
        for product in ["weekly", "pass"] { #expect(await engine.buy(product).code == "granted") }
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).json")
        let file = PurchaseSnapshotFile(file: url)
        let writing = Task { await engine.writeSnapshots(to: file) }
        defer { writing.cancel() }
        try await wait { (try? file.read()) != nil }
        let snapshot = try #require(try file.read())
        for (product, leeway) in [("weekly", 86_400.0), ("pass", 0)] {
            let end = try #require(snapshot.entitlements.first { $0.productID == product }?.until) + leeway
            #expect(snapshot.isActive(product, at: end - 1) && !snapshot.isActive(product, at: end))
        }
        try FileManager.default.removeItem(at: url)
    }

    @Test("A change of a subscription's status brings a look")
    func status() async throws {
        let probe = try Probe()
        let engine = try probe.engine(hasServer: false)
        let run = Task { await engine.run() }
        defer { run.cancel() }
        try await wait { probe.queue.isHeard }
        try probe.queue.sell("pro")
        probe.queue.finished.change { $0 = [probe.queue.sold.value[0].transactionID ?? ""] }
        try await wait {
            probe.queue.sendStatusChange()
            return try await engine.active() == ["pro"]
        }
    }

    @Test("What StoreKit lists as current counts, also after the clock was ahead by years")
    func wrongClock() async throws {
        let probe = try Probe()
        let engine = try probe.engine(hasServer: false)
        #expect(await engine.buy("yearly").code == "granted")
        await engine.refreshEntitlements()
        probe.time.set(days: 1000)
        probe.queue.listed.change { $0 = [] }
        await engine.refreshEntitlements()
        #expect(try await engine.active().isEmpty)
        probe.time.set(days: -1000)
        probe.queue.listed.change { $0 = nil }
        for engine in [engine, try probe.engine(hasServer: false)] {
            await engine.refreshEntitlements()
            #expect(try await engine.active() == ["yearly"])
        }
        probe.time.pass(days: 366)
        await engine.refreshEntitlements()
        #expect(try await engine.active().isEmpty)
    }

    @Test("A non-renewing subscription lasts as long as the app says, and two of them one after the other")
    func passes() async throws {
        let probe = try Probe()
        let engine = try probe.engine(hasServer: false, lengths: ["pass": PurchasePeriod(1, .month)])
        #expect(await engine.buy("pass").code == "granted")
        #expect(await engine.buy("pass").code == "granted")
        probe.time.pass(days: 55)
        #expect(try await engine.active() == ["pass"])
        probe.time.pass(days: 8)
        #expect(try await engine.active().isEmpty)
        #expect(await engine.buy("pass").code == "granted")
        #expect(try await engine.active() == ["pass"])
        // Without a length it does not end.
        #expect(try await probe.engine(hasServer: false).active() == ["pass"])
    }

    @Test("A record of a later version is kept and reported, and nothing is sold over it")
    func laterVersion() async throws {
        let probe = try Probe()
        let later = Array(#"{"version": 2, "started": "of another form"}"#.utf8)
        probe.store.document.change { $0 = later }
        let engine = try probe.engine(hasServer: false)
        let events = await engine.events()
        #expect(await engine.buy("pro").code == "store_newer")
        await engine.start()
        for await event in events {
            guard case .failedOutside(let error, _) = event else { continue }
            #expect(error.code == .storeNewer && error.found == "version 2")
            break
        }
        #expect(probe.store.document.value == later && !probe.store.isSetAside.value)
        #expect(probe.queue.asked.value.isEmpty)
    }
}

extension Probe {
    /// Whether a launch knows what to show before its first look has ended.
    @MainActor
    fileprivate func loads() async throws -> Bool {
        let engine = try self.engine()
        await engine.signIn(PurchaseCustomer(id: "bob"))
        for await shown in engine.entitlementUpdates() { _ = shown; break }
        let model = PurchaseModel(engine)
        let sent = server.sent.value.count
        try await wait { model.isLoaded || server.sent.value.count > sent }
        return model.isLoaded
    }
}
