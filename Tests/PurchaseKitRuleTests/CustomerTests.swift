import Foundation
import PurchaseKit
import Testing

/// Who the customer is: guests, tokens, and what is handed over.
@Suite("The customer", .timeLimit(.minutes(10)))
struct CustomerTests {
    @Test("An engine to which nobody signed in sells to a guest, whose secret id is not in what they buy")
    func firstProgram() async throws {
        let probe = try Probe()
        let engine = try probe.engine()
        #expect(await engine.buy("pro").code == "granted")
        let payment = try #require(probe.queue.asked.value.first)
        let guest = try #require(try await engine.guest())
        #expect(payment.appAccountToken == guest.appAccountToken && payment.appAccountToken != nil)
        let token = try #require(payment.appAccountToken).uuidString.lowercased()
        #expect(guest.id.hasPrefix("guest-") && !guest.id.contains(token))
        // The next launch is the same guest's, without a call.
        let next = try probe.engine()
        #expect(try await next.active() == ["pro"])
        #expect(await next.buy("coins").code == "granted")
        #expect(Set(probe.server.owners.value.values) == [guest.id])
    }

    @Test("A restore by nobody is a guest's, and what arrived before waits no longer")
    func restore() async throws {
        let probe = try Probe()
        let coins = try probe.queue.sell("coins")
        let engine = try probe.engine()
        #expect(await engine.handle(coins).code == "customer_unknown")
        let run = Task { await engine.run() }
        defer { run.cancel() }
        try probe.queue.sell("pro")
        #expect(await engine.restore().error == nil)
        try await wait { try await engine.active() == ["coins", "pro"] }
        try await wait { try await probe.queue.unfinished().isEmpty }
    }

    @Test("Until the app has signed in its last customer, nothing is sold to a guest")
    func lastCustomer() async throws {
        let probe = try Probe()
        let first = try probe.engine()
        await first.signIn(PurchaseCustomer(id: "alice"))
        let second = try probe.engine()
        #expect(await second.buy("pro").code == "customer_unknown")
        #expect(probe.queue.asked.value.isEmpty)
        await second.signOut()
        #expect(await second.buy("pro").code == "granted")
        #expect(probe.server.owners.value.values.allSatisfy { $0.hasPrefix("guest-") })
    }

    @Test("What StoreKit's own views sell before the login is the last customer's, and waits for them")
    func views() async throws {
        let probe = try Probe()
        let first = try probe.engine()
        await first.signIn(PurchaseCustomer(id: "alice"))
        let token = try await first.accountToken()
        let second = try probe.engine()
        #expect(try await second.accountToken() == token)
        let sold = try probe.queue.sell("pro", token: token)
        #expect(await second.handle(sold: .success(.purchased(sold)), of: "pro").code == "customer_unknown")
        for customer in ["bob", "alice"] {
            await second.signIn(PurchaseCustomer(id: customer))
            await second.retryNow()
            #expect(probe.server.owners.value.values.map { $0 } == (customer == "bob" ? [] : ["alice"]))
        }
    }

    @Test("An engine that starts as a guest is loaded without a call, and the last customer of a login comes first")
    func startsAsGuest() async throws {
        let probe = try Probe()
        try probe.queue.sell("pro")
        // A launch that ends before the answer leaves the same guest to the next one.
        probe.server.isCut.change { $0 = true }
        let cut = try probe.engine(startsAsGuest: true)
        await cut.start()
        let guest = try await cut.guest()
        probe.server.isCut.change { $0 = false }
        let first = try probe.engine(startsAsGuest: true)
        let again = try await first.guest()
        #expect(guest != nil && again == guest)
        #expect(await !first.isLoadedNow())
        await first.start()
        #expect(await first.isLoadedNow())
        #expect(try await first.active() == ["pro"])
        try await first.signIn(PurchaseCustomer(id: "alice")) { probe.server.merge($0, into: $1) }
        let second = try probe.engine(startsAsGuest: true)
        #expect(await second.buy("coins").code == "customer_unknown")
        await second.signOut()
        #expect(try await second.diagnostics().isSignedIn == false)
        #expect(try await probe.engine(startsAsGuest: true).diagnostics().isSignedIn)
    }

    @Test("While a server waits for a token that it knows, nothing more is sold with one that was made here")
    func tokenNeeded() async throws {
        let probe = try Probe()
        let engine = try probe.engine()
        probe.server.needsToken.change { $0 = true }
        #expect(await engine.buy("pro").code == "account_token_needed")
        guard case .failed(let error) = await engine.buy("coins") else {
            Issue.record("coins are sold")
            return
        }
        #expect(error.code == .accountTokenNeeded && probe.queue.asked.value.count == 1)
        let order = PurchaseOrder(orderID: "1", appAccountToken: UUID())
        #expect(await engine.buy("coins", order: order).code == "account_token_needed")
        #expect(probe.queue.asked.value.count == 2)
        probe.server.needsToken.change { $0 = false }
        await engine.retryNow()
        #expect(await engine.buy("rest").code == "granted")
        #expect(try await engine.active() == ["coins", "pro", "rest"])
    }

    @Test(
        "A transaction without a token and a proof pays only what its own customer began", arguments: ["bob", "alice"])
    func withoutToken(next: String) async throws {
        let probe = try Probe()
        let engine = try probe.engine()
        await engine.signIn(PurchaseCustomer(id: "alice"))
        probe.queue.mode.change { $0 = .pending }
        #expect(await engine.buy("pro", order: PurchaseOrder(orderID: "1")) == .pending)
        await engine.signIn(PurchaseCustomer(id: next))
        var bought = try probe.queue.sell("pro")
        bought.signedTransaction = nil
        #expect(await engine.handle(bought).code == "evidence_missing")
        let state = try await engine.diagnostics()
        #expect(state.waiting.map(\.hasOrder) == [next == "alice"])
        #expect(state.startedPurchases == (next == "alice" ? 0 : 1))
    }

    @Test("A payment that Alice's parent declined does not take the code that Bob redeems", arguments: [true, false])
    func declined(hasServer: Bool) async throws {
        let probe = try Probe()
        let engine = try probe.engine(hasServer: hasServer)
        await engine.signIn(PurchaseCustomer(id: "alice"))
        probe.queue.mode.change { $0 = .pending }
        #expect(await engine.buy("pro") == .pending)
        await engine.signIn(PurchaseCustomer(id: "bob"))
        let code = try probe.queue.sell("pro")
        #expect(await engine.handle(code).code == "granted")
        #expect(try await engine.purchases().map(\.customerID) == ["bob"])
        #expect(try await engine.diagnostics().startedPurchases == 1)
    }

    @Test("Every payment has a token: a customer's own, or one that names them on this device")
    func tokens() async throws {
        let probe = try Probe()
        let engine = try probe.engine()
        let own = UUID()
        for customer in [
            PurchaseCustomer(id: "alice"), PurchaseCustomer(id: "bob", appAccountToken: own),
            PurchaseCustomer(id: "alice"),
        ] {
            await engine.signIn(customer)
            #expect(await engine.buy("coins").code == "granted")
        }
        let tokens = probe.queue.asked.value.map(\.appAccountToken)
        #expect(tokens[0] != nil && tokens[0] == tokens[2] && tokens[1] == own && tokens[0] != own)
    }

    @Test("A renewal follows the owner whom the server named, not the customer who began the purchase")
    func transferred() async throws {
        let probe = try Probe()
        let engine = try probe.engine()
        await engine.signIn(PurchaseCustomer(id: "alice"))
        #expect(await engine.buy("weekly").code == "granted")
        let bought = probe.queue.sold.value[0]
        probe.server.owners.change { $0 = [bought.transactionID ?? "": "bob"] }
        await engine.signIn(PurchaseCustomer(id: "bob"))
        #expect(await engine.restore().granted.count == 1)
        let renewal = try probe.queue.sell(
            "weekly", token: bought.appAccountToken, original: bought.transactionID)
        #expect(await engine.handle(renewal).code == "granted")
        #expect(try await engine.active() == ["weekly"])
    }

    @Test("A login merges only a guest who has something, and hands over the rest by itself")
    func login() async throws {
        enum Case: String, CaseIterable { case nothing, purchase, waiting, started }
        for one in Case.allCases {
            let probe = try Probe()
            let engine = try probe.engine()
            let guest = try await engine.signInAsGuest()
            switch one {
            case .nothing: break
            case .purchase: _ = await engine.buy("pro")
            case .waiting:
                probe.server.isCut.change { $0 = true }
                _ = await engine.buy("pro")
                probe.server.isCut.change { $0 = false }
            case .started:
                probe.queue.mode.change { $0 = .pending }
                _ = await engine.buy("pro")
            }
            let merged = Locked<[String]>([])
            try await engine.signIn(PurchaseCustomer(id: "alice")) { from, to in
                merged.change { $0 += [from, to] }
                return to
            }
            #expect(merged.value == (one == .nothing ? [] : [guest.id, "alice"]), "\(one)")
            #expect(try await engine.guest() == nil)
        }
    }

    @Test("What a request binds to a guest after their login is handed over again", arguments: [true, false])
    func lateAnswer(runs: Bool) async throws {
        let probe = try Probe()
        let engine = try probe.engine()
        try await engine.signInAsGuest()
        let run = runs ? Task { await engine.run() } : nil
        defer { run?.cancel() }
        // The first look has ended.
        if runs { try await wait { !probe.server.sent.value.isEmpty } }
        probe.server.isSlow.change { $0 = true }
        let buying = Task { await engine.buy("coins") }
        try await wait { probe.server.sent.value.contains { $0.path == "/v1/purchases" } }
        try await engine.signIn(PurchaseCustomer(id: "alice")) { probe.server.merge($0, into: $1) }
        #expect(probe.server.merges.value == [false])
        probe.server.isSlow.change { $0 = false }
        #expect(await buying.value.code == "granted")
        try await wait {
            await engine.retryDue()
            return probe.server.merges.value == [false, true]
        }
        #expect(Set(probe.server.owners.value.values) == ["alice"])
        #expect(try await engine.balance(of: "coins") == 1)
        #expect(try await engine.diagnostics().waiting.isEmpty)
    }

    @Test("A login that fails is asked again, and after the end of the process at the next login of this customer")
    func lostAnswer() async throws {
        let probe = try Probe()
        let first = try probe.engine()
        try await first.signInAsGuest()
        probe.server.isSlow.change { $0 = true }
        let buying = Task { await first.buy("coins") }
        try await wait { !probe.server.sent.value.isEmpty }
        try await first.signIn(PurchaseCustomer(id: "alice")) { probe.server.merge($0, into: $1) }
        // The process ends; what it sent arrives.
        let store = probe.store.copy()
        probe.server.isSlow.change { $0 = false }
        _ = await buying.value
        probe.queue.finished.change { $0 = [] }
        #expect(probe.server.owners.value.values.allSatisfy { $0.hasPrefix("guest-") })
        let second = try probe.engine(store: store)
        await second.start()
        // Nobody may merge now: the transaction waits, and is not refused.
        #expect(
            try await second.events(of: { await second.signIn(PurchaseCustomer(id: "alice")) }).contains("guest_kept"))
        #expect(try await second.diagnostics().waiting.map(\.code) == ["already_claimed"])
        #expect(probe.queue.finished.value.isEmpty)
        struct Offline: Error {}
        try await second.signIn(PurchaseCustomer(id: "alice")) { _, _ in throw Offline() }
        #expect(try await second.diagnostics().waiting.count == 1)
        try await second.signIn(PurchaseCustomer(id: "alice")) { probe.server.merge($0, into: $1) }
        #expect(Set(probe.server.owners.value.values) == ["alice"])
        #expect(try await second.diagnostics().waiting.isEmpty)
        #expect(try await second.balance(of: "coins") == 1)
        // It is done once.
        let merges = probe.server.merges.value.count
        try await second.signIn(PurchaseCustomer(id: "alice")) { probe.server.merge($0, into: $1) }
        #expect(probe.server.merges.value.count == merges)
    }

    @Test(
        "After a lost answer of a login, somebody else who logs in is shown nothing of the guest",
        arguments: [true, false])
    func lostMerge(arrives: Bool) async throws {
        let probe = try Probe()
        let engine = try probe.engine()
        try await engine.signInAsGuest()
        #expect(await engine.buy("pro").code == "granted")
        await #expect(throws: PurchaseError.self) {
            try await engine.signIn(PurchaseCustomer(id: "alice")) { guest, customer in
                if arrives { _ = probe.server.merge(guest, into: customer) }
                throw PurchaseError(.connectionFailed)
            }
        }
        try await engine.signIn(PurchaseCustomer(id: "bob")) { probe.server.merge($0, into: $1) }
        #expect(try await engine.active() == (arrives ? [] : ["pro"]))
        #expect(try await engine.purchases().isEmpty == arrives)
        #expect(try await engine.guest() == nil)
        // Also in the next run.
        let next = try probe.engine()
        await next.signIn(PurchaseCustomer(id: "bob"))
        #expect(try await next.active() == (arrives ? [] : ["pro"]))
        try await next.signIn(PurchaseCustomer(id: "alice")) { probe.server.merge($0, into: $1) }
        #expect(try await next.active() == (arrives ? ["pro"] : []))
    }

    @Test(
        "A hand-over that is answered late signs nobody in after a later login or sign-out, and keeps a new guest",
        arguments: ["nobody", "another", "new guest"])
    func lateHandOver(then: String) async throws {
        let probe = try Probe()
        let engine = try probe.engine()
        let guest = try await engine.signInAsGuest()
        #expect(await engine.buy("pro").code == "granted")
        let (isAsked, isAnswered) = (Locked(false), Locked(false))
        let login = Task {
            try await engine.signIn(PurchaseCustomer(id: "alice")) { guest, customer in
                isAsked.change { $0 = true }
                while !isAnswered.value { try await Task.sleep(nanoseconds: 1_000_000) }
                return probe.server.merge(guest, into: customer)
            }
        }
        try await wait { isAsked.value }
        var new: PurchaseCustomer?
        switch then {
        case "nobody": await engine.signOut()
        case "another": await engine.signIn(PurchaseCustomer(id: "bob"))
        default:
            try await engine.signIn(PurchaseCustomer(id: "alice")) { probe.server.merge($0, into: $1) }
            await engine.signOut()
            new = try await engine.signInAsGuest()
        }
        isAnswered.change { $0 = true }
        try await login.value
        #expect(Set(probe.server.owners.value.values) == ["alice"])
        #expect(try await engine.guest() == new && new != guest)
        #expect(try await engine.active().isEmpty)
        #expect(try await engine.diagnostics().isSignedIn == (then != "nobody"))
        #expect(await engine.buy("coins").code == "granted")
        let buyer = then == "another" ? "bob" : try await engine.guest()?.id
        #expect(Set(probe.server.owners.value.values) == ["alice", buyer])
    }

    @Test("A login without a hand-over leaves the guest's purchases with the guest, and says so")
    func plainLogin() async throws {
        for buys in [true, false] {
            let probe = try Probe()
            let engine = try probe.engine()
            let guest = try await engine.signInAsGuest()
            if buys { #expect(await engine.buy("pro").code == "granted") }
            let names = try await engine.events(of: {
                await engine.signIn(PurchaseCustomer(id: "alice"))
                await engine.signOut()
            })
            #expect(names.contains("guest_kept") == buys, "\(names)")
            #expect(try await engine.guest() == guest)
            try await engine.signIn(PurchaseCustomer(id: "alice")) { probe.server.merge($0, into: $1) }
            #expect(try await engine.active() == (buys ? ["pro"] : []))
        }
    }
}
