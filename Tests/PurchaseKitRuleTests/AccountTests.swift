import Foundation
import PurchaseKit
import PurchaseMessages
import Testing

/// What a customer has without evidence on this device: all of their account, by one question.
@Suite("The account", .timeLimit(.minutes(10)))
struct AccountTests {
    /// A grant by support.
    private static func gift(_ productID: String, balance: Int64? = nil) -> EntitlementMessage {
        EntitlementMessage(
            productID: productID, productType: ProductType(rawValue: "x"), environment: .production, state: .active,
            balance: balance)
    }

    private static let token: PurchaseConnection.CustomerToken = { "token-\($0)" }

    @Test("120 coins are 120 on a second phone, for a guest who moved and for a customer with a token")
    func secondPhone() async throws {
        for isGuest in [true, false] {
            let probe = try Probe()
            func signIn(_ engine: PurchaseEngine) async throws {
                if isGuest {
                    try await engine.signInAsGuest()
                } else {
                    await engine.signIn(PurchaseCustomer(id: "alice"))
                }
            }
            let first = try probe.engine(token: Self.token)
            try await signIn(first)
            #expect(await first.buy("coins", quantity: 120).code == "granted")
            // The App Store lists no finished consumables.
            let second = try probe.engine(token: Self.token, store: try probe.store.moved())
            try await signIn(second)
            await second.refreshEntitlements()
            #expect(try await second.balance(of: "coins") == 120)
            #expect(try await second.guest()?.id == (isGuest ? try await first.guest()?.id : nil))
            // A guest whom the server no longer holds for one gets an empty list, which says nothing.
            if isGuest {
                probe.server.changesAccount.change { $0 = { $0.entitlements = [] } }
                await second.refreshEntitlements(evenIfKnown: true)
                #expect(try await second.balance(of: "coins") == 120)
            }
            // Once a day.
            let sent = probe.server.sent.value.count
            await second.refreshEntitlements()
            #expect(probe.server.sent.value.count == sent)
        }
        // Without a token nobody may ask.
        let probe = try Probe()
        let engine = try probe.engine()
        await engine.signIn(PurchaseCustomer(id: "alice"))
        await engine.refreshEntitlements()
        #expect(probe.server.sent.value.isEmpty)
    }

    @Test("A grant by support arrives, beside evidence and without, and ends when the account no longer lists it")
    func support() async throws {
        for buys in [true, false] {
            let probe = try Probe()
            let engine = try probe.engine(token: Self.token)
            await engine.signIn(PurchaseCustomer(id: "alice"))
            if buys { #expect(await engine.buy("pro").code == "granted") }
            probe.server.grants.change { $0 = ["alice": [Self.gift("gift"), Self.gift("gems", balance: 5)]] }
            await engine.refreshEntitlements(evenIfKnown: true)
            #expect(try await engine.active() == ["gems", "gift"] + (buys ? ["pro"] : []))
            #expect(try await engine.balance(of: "gems") == 5)
            // It counts offline, as every answer does, on the next launch, too.
            probe.server.isCut.change { $0 = true }
            probe.time.pass(days: 2)
            let next = try probe.engine(token: Self.token)
            await next.signIn(PurchaseCustomer(id: "alice"))
            await next.refreshEntitlements()
            #expect(try await next.active().contains("gift"))
            probe.server.isCut.change { $0 = false }
            probe.server.grants.change { $0 = [:] }
            await next.refreshEntitlements()
            #expect(try await next.active() == (buys ? ["pro"] : []))
            #expect(try await next.balance(of: "gems") == 0)
        }
    }

    @Test("A named entitlement is active while a product gives it, also by a renewal that the server does not know")
    func named() async throws {
        let probe = try Probe()
        probe.server.gives.change { $0 = ["weekly": ["pro", "club"]] }
        let engine = try probe.engine()
        await engine.signIn(PurchaseCustomer(id: "alice"))
        #expect(await engine.buy("weekly").code == "granted")
        func isActive(_ name: String) async throws -> Bool { try await engine.entitlements().isActive(name) }
        for name in ["pro", "club", "weekly"] { #expect(try await isActive(name)) }
        #expect(try await !isActive("other"))
        // The server is away.
        probe.server.isCut.change { $0 = true }
        probe.time.pass(days: 6.9)
        try probe.queue.sell("weekly", original: probe.queue.sold.value[0].transactionID)
        probe.time.pass(days: 1)
        await engine.refreshEntitlements()
        probe.time.pass(days: 2)
        #expect(try await isActive("pro"))
        probe.time.pass(days: 6)
        await engine.refreshEntitlements()
        #expect(try await !isActive("pro"))
    }

    @Test("A forged account and that of another customer change nothing")
    func hostile() async throws {
        for attack in ["forged", "another's", "another's beside a purchase", "another token"] {
            let probe = try Probe()
            let isNamed = attack == "another token"
            let engine = try probe.engine(token: { isNamed ? "token-mallory" : "token-\($0)" })
            await engine.signIn(PurchaseCustomer(id: "alice"))
            if attack == "another's beside a purchase" { try probe.queue.sell("pro") }
            probe.server.grants.change { $0 = ["alice": [Self.gift("gift")], "mallory": [Self.gift("gift")]] }
            if attack == "forged" { probe.server.isForged.change { $0 = true } }
            if attack.hasPrefix("another's") {
                probe.server.changesAccount.change { $0 = { $0.customerID = "mallory" } }
            }
            await engine.refreshEntitlements(evenIfKnown: true)
            #expect(try await !engine.active().contains("gift"), "\(attack)")
            // What the customer had stays.
            probe.server.isForged.change { $0 = false }
            probe.server.changesAccount.change { $0 = nil }
            let honest = try probe.engine(token: Self.token)
            await honest.signIn(PurchaseCustomer(id: "alice"))
            await honest.refreshEntitlements(evenIfKnown: true)
            #expect(try await honest.active().contains("gift"), "\(attack)")
            probe.server.isForged.change { $0 = true }
            probe.server.grants.change { $0 = [:] }
            await honest.refreshEntitlements(evenIfKnown: true)
            #expect(try await honest.active().contains("gift"), "\(attack)")
            await honest.signIn(PurchaseCustomer(id: "bob"))
            #expect(try await honest.active().isEmpty)
        }
    }

    @Test("Requests say who is a guest, what the customer asked for, and that all of the account is wanted")
    func requests() async throws {
        struct Sent: Decodable, Equatable {
            var guest, account, requested: Bool?
            var app_transaction: String?
        }
        for isGuest in [true, false] {
            let probe = try Probe()
            let engine = try probe.engine()
            if isGuest {
                try await engine.signInAsGuest()
            } else {
                await engine.signIn(PurchaseCustomer(id: "alice"))
            }
            try probe.queue.sell("pro")
            let guest = isGuest ? true : nil
            func sent(_ body: () async -> Void) async throws -> [Sent] {
                let before = probe.server.sent.value.count
                await body()
                return try probe.server.sent.value.dropFirst(before).map {
                    try JSONDecoder().decode(Sent.self, from: Data($0.body))
                }
            }
            #expect(try await sent { await engine.refreshEntitlements() } == [Sent(guest: guest, account: true)])
            #expect(try await sent { await engine.buy("coins") } == [Sent(guest: guest, account: true)])
            func restored(_ proof: String) -> Sent {
                Sent(guest: guest, account: true, requested: true, app_transaction: proof)
            }
            func restore() async throws -> [Sent] {
                try await sent { await engine.restore() }.filter { $0.requested == true }
            }
            #expect(try await restore() == [restored("app transaction")])
            // Only a server that takes over from guests needs a new one, for a customer with a login, too.
            probe.server.owners.change { $0 = $0.mapValues { _ in "guest-another" } }
            #expect(try await restore() == [restored("app transaction")])
            probe.server.takesOver.change { $0 = true }
            #expect(try await restore() == [restored("app transaction"), restored("new app transaction")])
            #expect(try await restore() == [restored("app transaction")], "it is theirs now")
        }
    }

    @Test(
        "A tap on Restore that has to wait stays one that the customer asked for, for a day or until the next tap",
        arguments: [true, false], [1, 2])
    func waitingRestore(tapsAgain: Bool, count: Int) async throws {
        let probe = try Probe()
        let engine = try probe.engine()
        await engine.signIn(PurchaseCustomer(id: "alice"))
        let products = Array(["pro", "rest"].prefix(count))
        let sold = try products.map { try probe.queue.sell($0) }
        probe.server.isCut.change { $0 = true }
        #expect(await engine.restore().undetermined.count == count)
        probe.server.isCut.change { $0 = false }
        for one in sold { probe.server.owners.change { $0[one.transactionID ?? ""] = "guest-another" } }
        probe.server.takesOver.change { $0 = true }
        let next = try probe.engine()
        await next.signIn(PurchaseCustomer(id: "alice"))
        // One by itself, or two together.
        if count == 1 { await next.start() } else { await next.retryNow() }
        let sent = try probe.server.requested()
        #expect(Set(sent.map(\.appTransaction)) == ["app transaction"], "nobody is asked for a password")
        #expect(try await next.diagnostics().waiting.map(\.code) == products.map { _ in "already_claimed" })
        #expect(probe.queue.finished.value.isEmpty)
        if tapsAgain {
            #expect(await next.restore().granted.count == count)
        } else {
            probe.time.pass(days: 1.1)
            await next.retryNow()
            #expect(try probe.server.requested().count == sent.count)
        }
        #expect(try await next.diagnostics().waiting.isEmpty)
        #expect(try await next.active() == (tapsAgain ? products : []))
    }

    @Test("A restore of many purchases asks for a password once")
    func oneRefresh() async throws {
        let probe = try Probe()
        let engine = try probe.engine()
        await engine.signIn(PurchaseCustomer(id: "alice"))
        probe.server.takesOver.change { $0 = true }
        let count = RestoreRequest.signedTransactionLimit + 1
        for number in 1...count {
            let id = try probe.queue.sell("product\(number)").transactionID ?? ""
            probe.server.owners.change { $0[id] = "guest-another" }
        }
        #expect(await engine.restore().granted.count == count)
        #expect(
            try probe.server.requested().map(\.appTransaction) == [
                "app transaction", "new app transaction", "new app transaction",
            ])
    }

    @Test(
        "A restore is for the customer who asked for it, whoever is signed in when the App Store answers",
        arguments: ["nobody", "another", "the same with a login"])
    func restoringCustomer(then: String) async throws {
        let probe = try Probe()
        let engine = try probe.engine()
        try await engine.signInAsGuest()
        try probe.queue.sell("pro")
        probe.queue.mode.change { $0 = .asks }
        let restoring = Task { await engine.restore() }
        try await wait { probe.queue.restores.value == 1 }
        switch then {
        case "nobody": await engine.signOut()
        case "another": await engine.signIn(PurchaseCustomer(id: "bob"))
        default: try await engine.signIn(PurchaseCustomer(id: "alice")) { probe.server.merge($0, into: $1) }
        }
        probe.queue.mode.change { $0 = .normal }
        let summary = await restoring.value
        let isSame = then == "the same with a login"
        #expect(try probe.server.requested().map(\.customerID) == (isSame ? ["alice"] : []))
        #expect(summary.granted.count == (isSame ? 1 : 0))
        #expect(summary.error?.code.rawValue == (isSame ? nil : "customer_unknown"))
    }

    @Test("Of an introductory offer the system knows more than the server, except for the server's settings")
    func offers() async throws {
        let probe = try Probe()
        let engine = try probe.engine(token: Self.token)
        await engine.signIn(PurchaseCustomer(id: "alice"))
        func show(_ isEligible: Bool?) {
            let kinds: [(PurchaseProductOffer.Kind, Bool?)] = [(.introductory, isEligible), (.promotional, nil)]
            let offers = kinds.map { kind, isEligible in
                PurchaseProductOffer(
                    offerID: kind == .introductory ? nil : "back", kind: kind, payment: .freeTrial, price: 0,
                    priceText: "0", period: PurchasePeriod(1, .month), isEligible: isEligible)
            }
            probe.queue.shop.change {
                $0 = [PurchaseProduct(productID: "pro", name: "Pro", price: 1, priceText: "1", offers: offers)]
            }
        }
        func shown() async throws -> [Bool?] { try await engine.products(["pro"]).flatMap(\.offers).map(\.isEligible) }
        let cases: [(Bool?, server: Bool, String, shown: Bool)] = [
            (true, false, "other", true), (false, true, "other", false), (nil, false, "other", false),
            (true, false, "offer_not_for_customer", false), (true, false, "offer_exhausted", false),
        ]
        for one in cases {
            show(one.0)
            probe.server.offers.change {
                $0 = [
                    CustomerOffers.Offer(
                        productID: "pro", offerID: nil, type: "introductory", eligible: one.server, reason: one.2),
                    CustomerOffers.Offer(
                        productID: "pro", offerID: "back", type: "promotional", eligible: true, reason: "other"),
                ]
            }
            #expect(try await shown() == [one.shown, true], "\(one)")
        }
        // A server that does not answer is not waited for.
        show(true)
        probe.server.isDead.change { $0 = true }
        #expect(try await shown() == [true, nil])
    }

    @Test(
        "The guest of another device who arrives late is taken if this one has nothing, and never replaced",
        arguments: ["nothing", "nothing yet at the next launch", "coins"])
    func lateGuest(has: String) async throws {
        let probe = try Probe()
        let other = ProbeStore()
        let first = try probe.engine(store: other)
        #expect(await first.buy("coins", quantity: 120).code == "granted")
        let item = try #require(try other.guest())
        // The new phone begins before the item has arrived.
        var engine = try probe.engine()
        let own = try await engine.signInAsGuest()
        #expect(try probe.store.guest() == nil)
        try probe.store.keepGuest(item)
        if has == "coins" {
            #expect(await engine.handle(try probe.queue.sell("coins", quantity: 1)).code == "granted")
        } else if has != "nothing" {
            engine = try probe.engine()
        }
        #expect(await engine.buy("pro").code == "granted")
        let guest = try await first.guest()
        #expect(try await engine.guest() == (has == "coins" ? own : guest))
        #expect(try probe.store.guest() == item)
        await engine.refreshEntitlements(evenIfKnown: true)
        #expect(try await engine.balance(of: "coins") == (has == "coins" ? 1 : 120))
        #expect(try await engine.active().contains("pro"))
        #expect(try await probe.engine().guest() == (has == "coins" ? own : guest))
        #expect(try await engine.diagnostics().waiting.isEmpty)
    }

    @Test("The bundle with which a subscription renews is part of its renewal")
    func bundle() async throws {
        let probe = try Probe()
        let engine = try probe.engine()
        probe.server.changesAccount.change {
            $0 = { list in
                for place in list.entitlements.indices {
                    list.entitlements[place].renewal = RenewalMessage(
                        bundleProductID: "suite", signedAt: "2027-01-15T08:00:00Z")
                }
            }
        }
        #expect(await engine.buy("monthly").code == "granted")
        #expect(try await engine.entitlements().map(\.renewal?.bundleProductID) == ["suite"])
    }

    @Test("A guest has an item apart from the record, moves without it, and is merged at a login on a new phone")
    func movedGuest() async throws {
        let probe = try Probe()
        let first = try probe.engine()
        let guest = try await first.signInAsGuest()
        #expect(await first.buy("coins").code == "granted")
        // The record is lost, the item is not.
        probe.store.document.change { $0 = Array("damaged".utf8) }
        #expect(try await probe.engine().signInAsGuest() == guest)
        // A login on a new phone, before anything else.
        let store = try probe.store.moved()
        let second = try probe.engine(token: Self.token, store: store)
        try await second.signIn(PurchaseCustomer(id: "alice")) { probe.server.merge($0, into: $1) }
        #expect(probe.server.merges.value == [true])
        #expect(try await second.balance(of: "coins") == 1)
        // The guest is gone, for this phone and those after it.
        #expect(try store.guest() == nil)
        #expect(try await probe.engine(store: try store.moved()).guest() == nil)
        // An item that could not be removed is not taken again.
        try store.keepGuest(Array("\(guest.id) \(UUID())".utf8))
        #expect(try await probe.engine(store: store).guest() == nil)
    }
}
