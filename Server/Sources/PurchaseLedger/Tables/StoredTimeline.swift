import PurchaseVerification

/// The stored spans of one ground of access. Version 1: version, number of spans, and for each its start, its end, the
/// transaction id and second, and the reason of its end.
struct StoredTimeline: Sendable, Equatable {
    private static let version: UInt8 = 1
    /// More spans than any subscription has; a row with more was tampered with.
    private static let maximum: UInt64 = 100_000

    struct Span: Sendable, Equatable {
        var from: Timestamp
        var until: Timestamp?
        var transactionID: ExactText?
        var second: Int64
        var endReason: NoAccessReason

        /// Whether it gives access at a time. Starts have five minutes of tolerance, ends none.
        func contains(_ moment: Timestamp) -> Bool {
            hasBegun(at: moment) && (until.map { moment < $0 && from < $0 } ?? true)
        }

        func hasBegun(at moment: Timestamp) -> Bool {
            from.millisecondsSince1970 - AccessSpan.startTolerance <= moment.millisecondsSince1970
        }
    }

    var spans: [Span]

    init(_ spans: [AccessSpan]) {
        self.spans = spans.map {
            Span(
                from: $0.from, until: $0.until, transactionID: $0.transaction?.transactionID,
                second: $0.transaction?.second ?? 0, endReason: $0.endReason)
        }
    }

    init(encoded: [UInt8]) throws(LedgerStorageError) {
        do throws(FactsDecodingError) {
            var reader = CanonicalReader(encoded)
            guard try reader.byte() == Self.version else { throw reader.malformed }
            let count = try reader.unsigned()
            guard count <= Self.maximum else { throw reader.malformed }
            spans = []
            for _ in 0..<count {
                let (from, until): (Timestamp, Timestamp?) = (try reader.moment(), try reader.optional())
                let (id, second): (ExactText?, Int64) = (try reader.optional(), try reader.signed())
                let name = String(decoding: try reader.counted(), as: UTF8.self)
                guard let reason = NoAccessReason(rawValue: name) else { throw reader.malformed }
                spans.append(Span(from: from, until: until, transactionID: id, second: second, endReason: reason))
            }
            guard reader.isAtEnd else { throw reader.malformed }
        } catch {
            throw LedgerStorageError(.corrupt, "the timeline of an entitlement is malformed; run assay rebuild")
        }
    }

    var encoded: [UInt8] {
        var writer = CanonicalWriter()
        writer.write(byte: Self.version)
        writer.write(UInt64(spans.count))
        for span in spans {
            writer.write(span.from)
            writer.write(optional: span.until)
            writer.write(optional: span.transactionID)
            writer.write(signed: span.second)
            writer.write(counted: span.endReason.rawValue.utf8)
        }
        return writer.bytes
    }
}
