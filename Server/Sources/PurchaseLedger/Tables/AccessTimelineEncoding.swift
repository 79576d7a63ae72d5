import PurchaseVerification

/// The stored form of a timeline. Version 2: version, number of steps, and for each its start, its lead, its end, the
/// transaction id and second, the reason, empty for plain access, and the lapse, as its end and its length.
extension AccessTimeline {
    private static let version: UInt8 = 2
    /// More steps than any subscription has; a row with more was tampered with.
    private static let maximum: UInt64 = 100_000

    /// Reads a stored timeline.
    ///
    /// - Parameter environment: the environment of its transactions.
    init(encoded: [UInt8], environment: AppStoreEnvironment) throws(LedgerStorageError) {
        do throws(FactsDecodingError) {
            var reader = CanonicalReader(encoded)
            guard try reader.byte() == Self.version else { throw reader.malformed }
            let count = try reader.unsigned()
            guard count <= Self.maximum else { throw reader.malformed }
            var steps: [Step] = []
            for _ in 0..<count {
                let (at, lead): (Timestamp, Int64) = (try reader.moment(), try reader.signed())
                let until: Timestamp? = try reader.optional()
                let (id, second): (ExactText?, Int64) = (try reader.optional(), try reader.signed())
                let name = String(decoding: try reader.counted(), as: UTF8.self)
                let reason = NoAccessReason(rawValue: name)
                guard reason != nil || name.isEmpty else { throw reader.malformed }
                let transaction = id.map { TransactionKey(environment: environment, transactionID: $0, second: second) }
                let lapseEnd: Timestamp? = try reader.optional()
                let lapse = try lapseEnd.map { end throws(FactsDecodingError) in
                    Lapse(end: end, longest: try reader.signed())
                }
                steps.append(
                    Step(at: at, lead: lead, reason: reason, until: until, transaction: transaction, lapse: lapse))
            }
            guard reader.isAtEnd else { throw reader.malformed }
            self.init(stored: steps)
        } catch {
            throw LedgerStorageError(
                .corrupt, "the timeline of an entitlement is malformed; run 'assay database rebuild'")
        }
    }

    /// The timeline in its stored form.
    var encoded: [UInt8] {
        var writer = CanonicalWriter()
        writer.write(byte: Self.version)
        writer.write(UInt64(steps.count))
        for step in steps {
            writer.write(step.at)
            writer.write(signed: step.lead)
            writer.write(optional: step.until)
            writer.write(optional: step.transaction?.transactionID)
            writer.write(signed: step.transaction?.second ?? 0)
            writer.write(counted: (step.reason?.rawValue ?? "").utf8)
            writer.write(optional: step.lapse?.end)
            if let lapse = step.lapse { writer.write(signed: lapse.longest) }
        }
        return writer.bytes
    }
}
