import EvidenceMint
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseVerification
import TestSupport
import Testing

@Suite("The App Store's answer in the journal", .tags(.everyEngine))
struct AppStoreRecordTests {
    var world: LedgerWorld { CurrentWorld.opened() }

    @Test("In the mode both a purchase is granted at once; the answer withdraws it, or is stored beside it")
    func both() async throws {
        try await LedgerWorld.with({ $0.mode = .both }) { world in
            let receipt = try LedgerWorld.coinReceipt(1, 2)
            let claim = try await world.claim("1", receipt)
            #expect(claim.code == "accepted" && claim.asksAppStore == claim.submissionID)
            #expect(try await world.balance() == 3)
            let again = try await world.claim("1", receipt)
            #expect(again.isReplayed && again.asksAppStore == nil, "the App Store is asked once")
            let date = Timestamp(millisecondsSince1970: world.clock.now.millisecondsSince1970 - 1000)
            // The cancellation of an unclaimed purchase counts, too.
            let answer = LedgerWorld.agreement {
                $0.cancellations = ["1", "2", "99"].map { AppStoreAnswer.Cancellation(LedgerWorld.key($0), at: date) }
            }
            guard case .confirmed = try await world.answer(claim.submissionID, answer) else {
                Issue.record("not confirmed")
                return
            }
            #expect(try await world.balance() == 0)
            #expect(try await world.claim("2", receipt).verdict == .rejected)
            let revoked = try #require(
                try await world.ledger.answer(EventList(app: "example", limit: 10)).first { $0.type == "revoked" })
            #expect(revoked.content.reason == "app_store_answer")

            let other = try await world.claim("7", try LedgerWorld.coinReceipt(7))
            var contradiction = AppStoreAnswer(
                refusal: Rejection(.appStoreContradicts, expected: "receipt.bundle_id a", found: "b"),
                isContradiction: true)
            contradiction.reply = Array("{}".utf8)
            try await world.answer(other.submissionID, contradiction)
            #expect(try await world.balance() == 3, "nothing is revoked silently")
            #expect(try await world.events().last == "contradicted")
            let record = try await world.submission(other.submissionID)
            #expect(record.code == "accepted" && record.decision == nil && record.appStoreAnswerID != nil)
        }
    }

    @Test(
        "33.1 In the mode both a claim and a restore ask about the same purchases: those that they grant for the first time"
    )
    func sameQuestions() async throws {
        for isCancelled in [false, true] {
            let cancellation = isCancelled ? MintedWorld.moment : nil
            try await LedgerWorld.with({ $0.mode = .both }) { world in
                for _ in 0...1 {
                    let isAsked =
                        try await world.restore(of: "alice", [try LedgerWorld.coinReceipt(1, cancelled: cancellation)])
                        .asksAppStore.count == 1
                    let claim = try await world.claim("2", try LedgerWorld.coinReceipt(2, cancelled: cancellation))
                    #expect(isAsked == (claim.asksAppStore != nil))
                    #expect(isAsked == (!isCancelled && !claim.isReplayed))
                }
            }
        }
    }

    @Test("E.4 In the mode both a refusal of what stays granted is an event, and a filter of submissions finds it")
    func refusedLater() async throws {
        try await TestEngine.withDatabases { database in
            var app = LedgerWorld.app()
            app.mode = .both
            let world = try await LedgerWorld(database).restarted([app])
            var claims: [PurchaseOutcome] = []
            for number in 1...3 {
                claims.append(try await world.claim("\(number)", try LedgerWorld.coinReceipt(number)))
            }
            let refusal = AppStoreAnswer(refusal: Rejection(.appStoreRefused, found: "status 21003"))
            try await world.answer(claims[0].submissionID, refusal)
            try await world.answer(claims[1].submissionID, LedgerWorld.agreement())
            try await world.answer(claims[2].submissionID, refusal)
            #expect(try await world.balance() == 9, "nothing is withdrawn")
            #expect(try await world.events().filter { $0 == "not_confirmed" }.count == 2)
            for limit in [1, 2, 50] {
                var filter = SubmissionFilter()
                (filter.appStore, filter.verdict) = (.refused, .accepted)
                var (found, cursor): ([String], JournalCursor?) = ([], nil)
                repeat {
                    let page = try await world.ledger.answer(
                        SubmissionList(app: "example", filter: filter, cursor: cursor, limit: limit))
                    found += page.entries.map(\.submissionID)
                    cursor = page.next
                } while cursor != nil
                #expect(found == [claims[2].submissionID.text, claims[0].submissionID.text])
                filter.appStore = .contradicted
                let none = try await world.ledger.answer(SubmissionList(app: "example", filter: filter, limit: limit))
                #expect(none.entries.isEmpty && none.next == nil)
            }
        }
    }

    @Test("Claims are leased to one server, rest after a failure, and are all due when the App Store answers again")
    func leases() async throws {
        try await LedgerWorld.with({ $0.mode = .apple }) { world in
            let (ledger, clock) = (world.ledger, world.clock)
            var claims: Set<UUID> = []
            for number in 1...5 {
                claims.insert(try await world.claim("\(number)", try LedgerWorld.coinReceipt(number)).submissionID)
            }
            func lease(_ limit: Int = 10, since: Timestamp? = nil) async throws -> [LedgerWork] {
                try await ledger.perform(LeaseWork(WorkSelection([.claim], since: since, limit: limit)))
            }
            func due() async throws -> Int {
                try await ledger.answer(DueWork(WorkSelection([.claim], limit: 10)))
            }
            // The server that received the claims asks first.
            #expect(try await lease() == [])
            clock.advance(seconds: WorkKind.claim.lease / 1000)
            async let first = lease(3)
            async let second = lease(3)
            let leased = try await first + second
            #expect(leased.count == 5 && Set(leased.compactMap(\.entry)) == claims, "no claim is leased twice")
            #expect(try await due() == 0)
            for var work in leased {
                work.attempts = 8
                try await ledger.perform(NoteWork(work, next: clock.now.adding(milliseconds: 600_000, times: 1)))
            }
            #expect(try await lease() == [])
            let claim = try #require(leased[0].entry)
            #expect(try await ledger.answer(AppStoreClaimByID(claim))?.work.attempts == 8)
            try await ledger.perform(RetryWorkNow(.claim))
            #expect(try await due() == 5)
            // A claim that waited too long is found by when it came.
            #expect(try await lease(since: clock.now.adding(milliseconds: -600_000, times: 1)) == [])
            #expect(try await lease(since: clock.now).count == 5)
            // A lease that ends too far in the future is ignored.
            #expect(try await due() == 0)
            clock.advance(seconds: -3600)
            try await ledger.perform(RetryWorkNow(.claim))
            #expect(try await due() == 5)
            clock.advance(seconds: 3600)
            for work in leased { try await world.answer(try #require(work.entry), LedgerWorld.agreement()) }
            // A postponement that arrives too late changes nothing.
            try await ledger.perform(NoteWork(leased[0], next: clock.now))
            clock.advance(seconds: 86_400)
            #expect(try await due() == 0)
            #expect(try await ledger.answer(CountWork(.claim)).count == 0)
            #expect(try await world.balance() == 15)
        }
    }

    @Test("Work that goes on page by page is due again where it stood if its server dies, and ends when it says so")
    func held() async throws {
        try await LedgerWorld.with { world in
            let (ledger, clock) = (world.ledger, world.clock)
            let selection = WorkSelection([.history], limit: 10)
            let history = LedgerWork(.history, app: "example", environment: .production, subject: "1")
            try await ledger.perform(ScheduleWork(history))
            var work = try #require(try await ledger.perform(LeaseWork(selection)).first)
            work.progress = "page 2"
            try await ledger.perform(NoteWork(work, next: nil, isHeld: true))
            #expect(try await ledger.answer(DueWork(selection)) == 0)
            clock.advance(seconds: WorkKind.history.lease / 1000)
            work = try #require(try await ledger.perform(LeaseWork(selection)).first)
            #expect(work.progress == "page 2")
            try await ledger.perform(NoteWork(work, next: nil))
            clock.advance(seconds: 86_400)
            #expect(try await ledger.answer(DueWork(selection)) == 0)
        }
    }

    @Test("What is open and has lost its row of work is taken up again, once, and what is done is not")
    func adoption() async throws {
        try await LedgerWorld.with({ $0.mode = .apple }) { world in
            let open = try await world.claim("1", try LedgerWorld.coinReceipt(1)).submissionID
            let done = try await world.claim("2", try LedgerWorld.coinReceipt(2)).submissionID
            try await world.answer(done, LedgerWorld.agreement())
            _ = try await world.database.write { try $0.execute("DELETE FROM work", []) }
            #expect(try await world.ledger.answer(AppStoreClaimByID(open)) == nil)
            for _ in 0..<2 { try await world.ledger.perform(AdoptWork()) }
            // A row that never becomes due is none.
            _ = try await world.database.write { try $0.execute("UPDATE work SET next_at = NULL", []) }
            try await world.ledger.perform(AdoptWork())
            let waiting = try await world.ledger.answer(CountWork(.claim))
            #expect(waiting.count == 1 && waiting.oldest == world.clock.now)
            let leased = try await world.ledger.perform(LeaseWork(WorkSelection([.claim], limit: 10)))
            #expect(leased.map(\.entry) == [open])
            // A server that starts while another one records the answer can take up what is answered. It ends with the
            // second answer.
            let rows = try await world.database.read(.lists) { try $0.rows("SELECT * FROM work", []) }
            try await world.answer(open, LedgerWorld.agreement())
            let values = try #require(rows.first?.values)
            let places = (1...values.count).map { "?\($0)" }.joined(separator: ", ")
            _ = try await world.database.write { try $0.execute("INSERT INTO work VALUES (\(places))", values) }
            try await world.answer(open, LedgerWorld.agreement())
            #expect(try await world.ledger.answer(CountWork(.claim)).count == 0)
            try await world.requireConsistency()
        }
    }

    @Test("Two servers that record the App Store's answer at the same time decide once", .ledger({ $0.mode = .apple }))
    func race() async throws {
        for number in 1...20 {
            let claim = try await world.claim("\(number)", try LedgerWorld.coinReceipt(number)).submissionID
            let asked = try #require(try await world.ledger.answer(AppStoreClaimByID(claim)))
            let examined = world.ledger.examine(asked, LedgerWorld.agreement())
            let decided = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        if case .decided = try await world.ledger.perform(RecordAppStoreAnswer(examined)) {
                            return true
                        }
                        return false
                    }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(decided == 1)
        }
        #expect(try await world.balance() == 60)
    }

    @Test("An erasure ends a customer's waiting claims, and a merge transfers them", .ledger({ $0.mode = .apple }))
    func customers() async throws {
        let ledger = world.ledger
        let erased = try await world.claim("1", customer: "bob", try LedgerWorld.coinReceipt(1))
        let decided = try await world.claim("2", customer: "bob", try LedgerWorld.coinReceipt(2))
        try await world.answer(decided.submissionID, LedgerWorld.agreement())
        let shared = try LedgerWorld.coinReceipt(3, 4)
        let carols = try await world.claim("3", customer: "carol", shared)
        let bobs = try await world.claim("4", customer: "bob", shared)
        let date = Timestamp(millisecondsSince1970: world.clock.now.millisecondsSince1970 - 1000)
        try await world.answer(
            bobs.submissionID,
            LedgerWorld.agreement {
                $0.cancellations = [AppStoreAnswer.Cancellation(LedgerWorld.key("3"), at: date)]
            })
        _ = try await ledger.perform(EraseCustomer(app: "example", customerID: "bob", reason: "asked for it"))
        guard case .alreadyRecorded = try await world.answer(erased.submissionID, LedgerWorld.agreement()) else {
            Issue.record("a claim of nobody was decided")
            return
        }
        try await world.requireConsistency()
        // The cancellation in the answer to the erased customer's claim still counts for Carol's purchase.
        #expect(try await world.decision(carols.submissionID, LedgerWorld.agreement()).verdict == .rejected)
        let anonymous = try await world.claim("5", customer: "anonymous", try LedgerWorld.coinReceipt(5))
        try await ledger.perform(MergeCustomers(app: "example", customerID: "anonymous", into: "dora"))
        #expect(try await world.decision(anonymous.submissionID, LedgerWorld.agreement()).code == "accepted")
        #expect(try await world.balance(of: "dora") == 3)
    }

    @Test(
        "A rebuild of a database with waiting claims equals it, and keeps these claims",
        .enabled(if: TestEngine.ownsTables), .ledger({ $0.mode = .apple }))
    func rebuild() async throws {
        let waiting = try await world.claim("1", try LedgerWorld.coinReceipt(1))
        let decided = try await world.claim("2", try LedgerWorld.coinReceipt(2))
        try await world.answer(decided.submissionID, LedgerWorld.agreement())
        try await world.rebuilt { world in
            #expect(try await world.balance() == 3)
            let decision = try await world.decision(waiting.submissionID, LedgerWorld.agreement())
            #expect(decision.code == "accepted")
            #expect(try await world.balance() == 6)
        }
    }

    @Test("The audit reports a changed decision, and a claim that was made to look decided")
    func forged() async throws {
        for (change, kind) in [
            ("UPDATE app_store_claims SET answer_entry = entry_key", AuditFinding.Kind.rowDiffers),
            ("DELETE FROM app_store_claims", .rowMissing),
            ("UPDATE app_store_claims SET waits = 0", .rowDiffers),
            ("UPDATE app_store_claims SET customer_key = customer_key + 1", .rowDiffers),
        ] {
            try await TestEngine.withDatabases { database in
                var app = LedgerWorld.app()
                app.mode = .apple
                let world = try await LedgerWorld(database, apps: [app])
                _ = try await world.claim("1", try LedgerWorld.coinReceipt(1))
                try await database.write { connection in _ = try connection.execute(change, []) }
                let findings = try await world.ledger.audit().findings
                #expect(findings.map(\.kind) == [kind], "\(change): \(findings)")
            }
        }
    }
}
