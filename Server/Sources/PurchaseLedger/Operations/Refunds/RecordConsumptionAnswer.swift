/// Records that Apple took or refused what it was told about a purchase. Only the first record of a request counts.
public struct RecordConsumptionAnswer: LedgerOperation {
    public var work: ConsumptionWork
    /// Why Apple refused it; `nil` if Apple took it.
    public var refusal: String?
    /// Apple's number of the refusal.
    public var number: Int64?

    /// The outcome of an answer that was sent.
    public init(_ work: ConsumptionWork, refusal: String? = nil, number: Int64? = nil) {
        self.work = work
        self.refusal = refusal
        self.number = number
    }

    public var locks: LedgerLocks { .parts([.requestLeases]) }

    /// - Returns: whether this is the first record.
    public func perform(_ transaction: LedgerTransaction) throws -> Bool {
        let app = try transaction.app(work.app)
        let requests = ConsumptionRequestsTable(connection: transaction.connection)
        guard let entry = try JournalTable(connection: transaction.connection).row(id: work.request),
            let request = try requests.row(entry.key), request.answerEntry == nil
        else { return false }
        let place = try ConsumptionPlace(request, app, transaction)
        try place.lock()
        let owner = try ConsumptionReading(reader: transaction, app: app).situation(of: place.row).owner
        try transaction.lock(customers: { Set([owner?.key].compactMap(\.self)) })
        try place.record(
            refusal == nil ? .sent : .declined, answer: work.answer, refusal: refusal, number: number,
            situation: work.situation, owner: owner)
        return true
    }
}
