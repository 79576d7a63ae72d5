import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("Lists of the ledger", .tags(.everyEngine), .ledger)
struct ListTests {
    var folder: URL { CurrentWorld.opened() }
    let world: LedgerWorld = CurrentWorld.opened()

    @Test("Pages of a list neither lose nor repeat rows")
    func pages() async throws {
        for number in 0..<25 {
            _ = try await world.order(product: LedgerWorld.pro)
            let id = "\(1000 + number)"
            _ = try await world.claim(id, try LedgerWorld.signed(id))
        }
        var (orders, purchases, submissions): ([UUID], [String], [String]) = ([], [], [])
        var orderCursor: OrderCursor?
        repeat {
            let page = try await world.ledger.answer(
                OrderList(app: "example", status: .created, cursor: orderCursor, limit: 10))
            orders += page.entries.map(\.id)
            orderCursor = page.next
        } while orderCursor != nil
        var before: Int64?
        repeat {
            let page = try await world.ledger.answer(
                PurchasesOfCustomer(
                    app: "example", customerID: LedgerWorld.customer, before: before, limit: 10))
            purchases += page.entries.map(\.transactionID)
            before = page.next
        } while before != nil
        var cursor: JournalCursor?
        var filter = SubmissionFilter()
        filter.verdict = .accepted
        repeat {
            let page = try await world.ledger.answer(
                SubmissionList(app: "example", filter: filter, cursor: cursor, limit: 10))
            submissions += page.entries.map(\.submissionID)
            cursor = page.next
        } while cursor != nil
        #expect(orders.count == 25 && Set(orders).count == 25)
        #expect(purchases.count == 25 && Set(purchases) == Set((1000..<1025).map { "\($0)" }))
        #expect(submissions.count == 25 && Set(submissions).count == 25)
    }

    @Test("Submissions are found by customer, order, transaction, verdict, code and time")
    func filters() async throws {
        let order = try await world.order("bob")
        let evidence = try LedgerWorld.signed("1")
        _ = try await world.claim("1", customer: nil, order: order.id, evidence)
        world.clock.advance(seconds: 10)
        let time = world.clock.now
        _ = try await world.claim("9", customer: "carol", try LedgerWorld.signed("2"))
        _ = try await world.claim("1", customer: "carol", evidence)
        func codes(_ change: (inout SubmissionFilter) -> Void) async throws -> [String] {
            var filter = SubmissionFilter()
            change(&filter)
            return try await world.submissions(filter).map(\.code)
        }
        #expect(try await codes { _ in } == ["already_claimed", "transaction_not_found", "accepted"])
        #expect(try await codes { $0.customerID = "bob" } == ["accepted"], "the claim named only the order")
        #expect(try await codes { $0.customerID = "carol" } == ["already_claimed", "transaction_not_found"])
        #expect(try await codes { $0.customerID = "dora" } == [])
        #expect(try await codes { $0.orderID = order.id } == ["accepted"])
        #expect(try await codes { $0.orderID = UUID() } == [])
        #expect(try await codes { $0.transactionID = "1" } == ["already_claimed", "accepted"])
        #expect(try await codes { ($0.transactionID, $0.orderID) = ("1", order.id) } == ["accepted"])
        #expect(try await codes { $0.verdict = .rejected } == ["already_claimed", "transaction_not_found"])
        #expect(try await codes { $0.code = "accepted" } == ["accepted"])
        #expect(try await codes { $0.code = "already_claimed" } == ["already_claimed"])
        #expect(try await codes { $0.from = time } == ["already_claimed", "transaction_not_found"])
        #expect(try await codes { $0.to = time } == ["accepted"])
    }

    @Test("Pages under every combination of filters have exactly the claims that match, once, newest first")
    func combinations() async throws {
        let orders = [try await world.order("alice"), try await world.order("bob")]
        for number in 0..<60 {
            let (customer, id) = (["alice", "bob", "carol"][number % 3], "\(1 + number % 7)")
            let order = number % 5 == 0 && number % 3 < 2 ? orders[number % 3] : nil
            // Every fourth claim names a transaction that its evidence lacks.
            _ = try await world.claim(
                number % 4 == 0 ? "99" : id, customer: order == nil ? customer : nil, order: order?.id,
                try LedgerWorld.signed(id))
            if number % 10 == 9 { world.clock.advance(seconds: 1) }
        }
        let all = try await world.submissions()
        #expect(all.count == 60 && Set(all.map(\.code)).count > 2)
        func received(_ claim: SubmissionMessage) -> Timestamp {
            Timestamp(claim.receivedAt) ?? Timestamp(millisecondsSince1970: 0)
        }
        let middle = received(all[30])
        var combinations = 0
        for customer in [nil, "alice", "carol", "nobody"] {
            for order in [nil, orders[0].id] {
                for transaction in [nil, "1", "99"] {
                    for code in [nil, "accepted", "already_claimed", "transaction_not_found"] {
                        for verdict in [nil, Verdict.accepted, .rejected] {
                            for (from, to) in [(nil, nil), (middle, nil), (nil, middle)]
                                as [(Timestamp?, Timestamp?)]
                            {
                                var filter = SubmissionFilter()
                                (filter.customerID, filter.orderID, filter.code) = (customer, order, code)
                                (filter.verdict, filter.from, filter.to) = (verdict, from, to)
                                filter.transactionID = transaction
                                // No evidence states transaction 99; the refused claims that name it are found.
                                let expected = all.filter { record in
                                    let matches = [
                                        customer.map { $0 == record.customerID }, code.map { $0 == record.code },
                                        order.map { $0.uuidString.lowercased() == record.orderID },
                                        verdict.map { $0.rawValue == record.verdict.rawValue },
                                        from.map { received(record) >= $0 },
                                        to.map { received(record) < $0 },
                                        transaction.map { $0 == record.transactionID },
                                    ]
                                    return matches.allSatisfy { $0 ?? true }
                                }
                                let found = try await pages(world, filter)
                                #expect(found == expected.map(\.submissionID), "\(filter)")
                                combinations += 1
                            }
                        }
                    }
                }
            }
        }
        #expect(combinations == 864)
    }

    /// All pages of a list, three at a time.
    private func pages(_ world: LedgerWorld, _ filter: SubmissionFilter) async throws -> [String] {
        var (found, cursor): ([String], JournalCursor?) = ([], nil)
        repeat {
            let page = try await world.ledger.answer(
                SubmissionList(app: "example", filter: filter, cursor: cursor, limit: 3))
            #expect(page.entries.count <= 3)
            found += page.entries.map(\.submissionID)
            cursor = page.next
        } while cursor != nil
        return found
    }

    @Test("A claim is found by its transaction although another app has the same transaction id", .folder)
    func transactionOfAnotherApp() async throws {
        let database = try SQLiteDatabase(path: folder.appending(path: "assay.sqlite").path)
        let other = RegisteredApp(id: "other", bundleIDs: ["com.example.other"])
        let world = try await LedgerWorld(database, apps: [LedgerWorld.app(), other])
        try await world.observe(
            try LedgerWorld.signed("1") { ($0.bundleID, $0.environment) = ("com.example.other", "Sandbox") })
        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        var filter = SubmissionFilter()
        filter.transactionID = "1"
        #expect(try await world.submissions(filter).map(\.code) == ["accepted"])
        try await database.close()
    }

    @Test("A purchase is found by its transaction in every environment, even if it is held")
    func transaction() async throws {
        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        try await world.observe(try LedgerWorld.signed("1") { $0.environment = "Sandbox" })
        let found = try await world.ledger.answer(PurchasesOfTransaction(app: "example", transactionID: "1"))
        #expect(found.map(\.environment.name).sorted() == ["Production", "Sandbox"])
        #expect(found.first { $0.environment == .production }?.customerID == LedgerWorld.customer)
        #expect(found.first { $0.environment == .sandbox }?.customerID == nil)
        #expect(try await world.ledger.answer(PurchasesOfTransaction(app: "example", transactionID: "2")) == [])
    }
}

@Suite("The timeline of a customer, on each engine", .tags(.everyEngine))
struct CustomerTimelineTests {
    var world: LedgerWorld { CurrentWorld.opened() }

    @Test("It has the events and the rejected claims, page by page, also of a merged customer", .ledger)
    func pages() async throws {
        _ = try await world.claim("1", try LedgerWorld.signed("1"))
        world.clock.advance(seconds: 10)
        _ = try await world.claim("9", try LedgerWorld.signed("1"))
        world.clock.advance(seconds: 10)
        try await world.merge("alice", into: "bob")
        for limit in 1...4 {
            var (types, cursor): ([String], TimelineCursor?) = ([], nil)
            repeat {
                let page = try await world.ledger.answer(
                    CustomerTimeline(app: "example", customerID: "alice", cursor: cursor, limit: limit))
                #expect(page.mergedInto == "bob" && page.entries.count <= limit)
                types += page.entries.map { $0.message.code ?? $0.message.type }
                cursor = page.next
            } while cursor != nil
            #expect(types == ["granted", "transaction_not_found", "customer_merged"], "\(limit)")
        }
    }
}
