import AllocationCounter

/// How time and memory grow with the number of purchases, with minted receipts.
struct LinearityTable {
    private static let sizes = [1, 10, 100, 1_000, 10_000]

    func report() throws {
        let mint = try Mint()
        let receipts = try Self.sizes.map { try mint.receipt("\($0)", purchases: $0) }
        let contenders = try receipts.map { try $0.contender(.assayHotStrings) }
        let medians = try Contest(contenders: contenders, rounds: 31).medians()
        let memory = try contenders.map(AllocationTable.count)

        var table = MarkdownTable([
            "purchases", "bytes of base64", "µs", "µs per purchase", "µs per further purchase", "peak of heap, bytes",
            "heap per byte of base64", "heap per further purchase", "allocations per further purchase",
        ])
        for index in receipts.indices {
            let (receipt, now) = (receipts[index], memory[index])
            var row = [
                "\(receipt.purchases)", "\(receipt.base64.count)", medians[index].text(1),
                (medians[index] / Double(receipt.purchases)).text(2), "", "\(now.peak)",
                (Double(now.peak) / Double(receipt.base64.count)).text(2), "", "",
            ]
            if index > 0 {
                let further = Double(receipt.purchases - receipts[index - 1].purchases)
                row[4] = ((medians[index] - medians[index - 1]) / further).text(2)
                row[7] = (Double(now.peak - memory[index - 1].peak) / further).text()
                row[8] = (Double(now.calls - memory[index - 1].calls) / further).text(1)
            }
            table.append(row)
        }
        print("\n## Growth: Assay hot, every string read, minted receipts\n\n\(table.text)")
    }
}
