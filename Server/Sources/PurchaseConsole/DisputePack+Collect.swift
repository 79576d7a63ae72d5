import PurchaseAPI
public import PurchaseLedger
public import PurchaseVerification
import TextFormats

import struct Foundation.UUID

extension DisputePack {
    /// Collects a pack.
    ///
    /// - Parameters:
    ///   - app: the id of the app.
    ///   - isRedacted: whether names of customers, details, reasons and evidence are left out; hashes, checks and
    ///     proofs stay.
    ///   - checkpoint: the signed checkpoint that the proofs are for.
    /// - Throws: `customer_unknown`; `NothingRecorded` about the transaction; errors of the database.
    public static func collect(
        _ subject: Subject, app: String, isRedacted: Bool, checkpoint: SignedCheckpoint?, at now: Timestamp,
        from ledger: PurchaseLedger
    ) async throws -> DisputePack {
        var collection = Collection(app: app, ledger: ledger)
        switch subject {
        case .customer(let id): try await collection.addCustomer(id)
        case .transaction(let id): try await collection.addTransaction(id)
        }
        let isComplete = collection.isComplete && collection.entries.count <= mostEntries
        var entries = Array(
            collection.entries.values.sorted { ($0.at, $0.name) < ($1.at, $1.name) }.suffix(mostEntries))
        var left = mostEvidence
        for index in entries.indices {
            try await entries[index].prove(checkpoint, ledger)
            left -= entries[index].evidence?.count ?? 0
            if left >= 0 { entries[index].inspect(app, ledger) }
            if isRedacted { entries[index].redact() } else if left < 0 { entries[index].leaveOutEvidence() }
        }
        return DisputePack(
            app: app, subject: subject, isRedacted: isRedacted, madeAt: now, purchases: collection.purchases,
            entries: entries, isComplete: isComplete,
            checkpoint: checkpoint.map { String(decoding: $0.note, as: UTF8.self) })
    }

    /// The entries that were found, each once.
    private struct Collection {
        let app: String
        let ledger: PurchaseLedger
        var entries: [UUID: Entry] = [:]
        var purchases: [RecordedPurchase] = []
        var isComplete = true

        private static let page = 200
        /// The most pages of one list: a list whose pages have few entries of the subject ends somewhere, too.
        private static let mostPages = 50

        init(app: String, ledger: PurchaseLedger) { (self.app, self.ledger) = (app, ledger) }

        private mutating func add(
            _ id: String, at time: String, _ text: String, code: String? = nil
        ) throws(LedgerStorageError) {
            guard let id = UUID(uuidString: id), let time = Timestamp(time) else {
                throw LedgerStorageError(.corrupt, "the entry \(id) of \(time) has no id or time")
            }
            var entry = entries[id] ?? Entry(id: id, at: time, texts: [])
            if !entry.texts.contains(text) { entry.texts.append(text) }
            entry.code = entry.code ?? code
            entries[id] = entry
        }

        mutating func addCustomer(_ id: String) async throws {
            try await read(CustomerTimeline(app: app, customerID: id)) { try $0.add($1.message) }
            var filter = SubmissionFilter()
            filter.customerID = id
            try await addClaims(filter)
            try await addNotifications(NotificationFilter(customerID: id))
            try await read(PurchasesOfCustomer(app: app, customerID: id), { $0.purchases.count }) {
                $0.purchases.append($1)
            }
        }

        /// Adds the entries of a list, as long as there is room.
        private mutating func read<List: LedgerList, Listed>(
            _ list: List, _ count: (Self) -> Int = { $0.entries.count }, add: (inout Self, Listed) throws -> Void
        ) async throws where List.Answer == ListPage<Listed, List.Cursor> {
            var list = list
            list.limit = Self.page
            for _ in 0..<Self.mostPages where count(self) <= DisputePack.mostEntries {
                let page = try await ledger.answer(list)
                for entry in page.entries { try add(&self, entry) }
                guard let next = page.next else { return }
                list.cursor = next
            }
            isComplete = false
        }

        mutating func addTransaction(_ id: String) async throws {
            purchases = try await ledger.answer(PurchasesOfTransaction(app: app, transactionID: id))
            var filter = SubmissionFilter()
            filter.transactionID = id
            try await addClaims(filter)
            try await addNotifications(NotificationFilter(transactionID: id))
            for owner in Set(purchases.compactMap(\.customerID)).sorted() {
                try await read(CustomerTimeline(app: app, customerID: owner)) {
                    if $1.message.transactionID == id { try $0.add($1.message) }
                }
            }
            guard !purchases.isEmpty || !entries.isEmpty else {
                throw NothingRecorded()
            }
        }

        private mutating func add(_ entry: TimelineMessage) throws(LedgerStorageError) {
            let words = [entry.text, entry.productID, entry.amount].compactMap(\.self)
            try add(entry.entryID, at: entry.at, words.joined(separator: " · "), code: entry.code)
        }

        private mutating func addClaims(_ filter: SubmissionFilter) async throws {
            try await read(SubmissionList(app: app, filter: filter)) {
                try $0.add($1.submissionID, at: $1.receivedAt, $1.sentence, code: $1.code)
            }
        }

        private mutating func addNotifications(_ filter: NotificationFilter) async throws {
            try await read(NotificationList(app: app, filter: filter)) { collection, notification in
                let type = [notification.type, notification.subtype].compactMap(\.self).joined(separator: " ")
                try collection.add(notification.entryID, at: notification.receivedAt, "Apple's notification \(type)")
            }
        }
    }
}

extension DisputePack.Entry {
    /// Adds the proof and the evidence.
    fileprivate mutating func prove(_ checkpoint: SignedCheckpoint?, _ ledger: PurchaseLedger) async throws {
        guard let checkpoint else { return }
        do {
            proof = try await ledger.answer(ProveEntry(entryID: id, checkpoint: checkpoint))
        } catch let error as LogError where error.code == .notSealed {
            return
        }
        evidenceSHA256 = proof?.entry?.evidence.map(\.hexadecimal)
        evidence = proof?.evidence
    }

    /// Adds the checks of the evidence.
    fileprivate mutating func inspect(_ app: String, _ ledger: PurchaseLedger) {
        if let evidence { inspection = ledger.inspect(evidence, app: app) }
    }

    fileprivate mutating func leaveOutEvidence() {
        proof = proof?.withoutEvidence
        evidence = nil
    }

    fileprivate mutating func redact() {
        proof = proof?.redacted
        evidence = nil
    }
}
