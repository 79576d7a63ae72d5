import AllocationCounter

/// The heap allocations of one verification.
struct AllocationTable {
    private let receipts: [BenchmarkReceipt]

    init(_ receipts: BenchmarkReceipts) { self.receipts = receipts.receipts }

    func report() throws {
        var table = MarkdownTable([
            "allocations of one verification", "calls", "bytes asked for", "peak in use, bytes", "peak / base64",
        ])
        for receipt in receipts {
            table.append(["**\(receipt.title)**", "", "", "", ""])
            for contender in try receipt.contenders() {
                let count = try Self.count(contender)
                table.append([
                    contender.title, "\(count.calls)", "\(count.bytes)", "\(count.peak)",
                    (Double(count.peak) / Double(receipt.base64.count)).text(2),
                ])
            }
        }
        print("\n## Allocations\n\n\(table.text)")
    }

    /// The allocations of one run, after several runs that have filled all caches.
    static func count(_ contender: Contender) throws -> allocation_count {
        for _ in 0..<3 { _ = try contender.run() }
        allocation_counter_start()
        let result = Result { try contender.run() }
        let count = allocation_counter_stop()
        _ = try result.get()
        return count
    }
}
