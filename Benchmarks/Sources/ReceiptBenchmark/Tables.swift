import AllocationCounter

/// The cost of one verification, beside its floors and beside OpenSSL.
struct VerificationTable {
    private let receipts: [BenchmarkReceipt]

    init(_ receipts: BenchmarkReceipts) { self.receipts = receipts.receipts }

    func report() throws {
        var table = MarkdownTable(["one verification", "µs", "ratio to floor A", "ratio to Assay hot"])
        var targets = MarkdownTable(["target", "wanted", "found", "met"])
        for receipt in receipts {
            let contenders = try receipt.contenders()
            let medians = try Contest(contenders: contenders).medians()
            let times = Dictionary(uniqueKeysWithValues: zip(ContenderRow.allCases, medians))
            guard let floor = times[.floorA], let hot = times[.assayHot] else {
                throw BenchmarkError("a contender is missing")
            }
            table.append(["**\(receipt.title)**", "", "", ""])
            for (contender, median) in zip(contenders, medians) {
                table.append([
                    contender.title, median.text(1), (median / floor).text(2), (median / hot).text(2),
                ])
            }
            let limit = receipt.purchases <= 10 ? 1.3 : 2.5
            targets.append([
                "\(receipt.name): Assay hot / floor A", "≤ \(limit)", (hot / floor).text(2),
                hot / floor <= limit ? "yes" : "no",
            ])
            #if canImport(OpenSSLReceipt)
                guard let openSSL = times[.openSSL] else { throw BenchmarkError("a contender is missing") }
                // None can be further ahead than the floor itself.
                let reach = openSSL / floor < 25 ? "no: floor A itself is at \((openSSL / floor).text(1))" : "no"
                targets.append([
                    "\(receipt.name): OpenSSL / Assay hot", "≥ 25", (openSSL / hot).text(1),
                    openSSL / hot >= 25 ? "yes" : reach,
                ])
            #endif
        }
        print("\n## One verification\n\n\(table.text)\n\n\(targets.text)")
    }
}

/// The cost of verifying a transaction receipt or signed data, beside its floor.
struct SignedEvidenceTable {
    private let evidence: [SignedEvidence]

    init(_ evidence: [SignedEvidence]) { self.evidence = evidence }

    func report() throws {
        var table = MarkdownTable([
            "one verification", "µs", "ratio to its floor", "allocations", "bytes asked for", "peak in use, bytes",
        ])
        var targets = MarkdownTable(["target", "wanted", "found", "met"])
        for evidence in evidence {
            let contenders = try evidence.contenders()
            let medians = try Contest(contenders: contenders).medians()
            let times = Dictionary(uniqueKeysWithValues: zip(SignedEvidenceRow.allCases, medians))
            guard let floor = times[.floor], let hot = times[.assayHot] else {
                throw BenchmarkError("a contender is missing")
            }
            table.append(["**\(evidence.title)**", "", "", "", "", ""])
            for (contender, median) in zip(contenders, medians) {
                let heap = allocation_counter_works() ? try AllocationTable.count(contender) : nil
                table.append([
                    contender.title, median.text(1), (median / floor).text(2), heap.map { "\($0.calls)" } ?? "-",
                    heap.map { "\($0.bytes)" } ?? "-", heap.map { "\($0.peak)" } ?? "-",
                ])
            }
            targets.append([
                "\(evidence.name): Assay hot / its floor", "≤ 1.5", (hot / floor).text(2),
                hot / floor <= 1.5 ? "yes" : "no",
            ])
        }
        print("\n## Transaction receipts and signed data\n\n\(table.text)\n\n\(targets.text)")
    }
}

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

/// A table of Markdown: the first column is text, the others are numbers.
struct MarkdownTable {
    private var rows: [[String]]

    init(_ header: [String]) { rows = [header] }

    mutating func append(_ row: [String]) { rows.append(row) }

    var text: String {
        let columns = rows[0].count
        let widths = (0..<columns).map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = rows.map { row in
            "| "
                + row.indices.map { column in
                    let padding = String(repeating: " ", count: widths[column] - row[column].count)
                    return column == 0 ? row[column] + padding : padding + row[column]
                }.joined(separator: " | ") + " |"
        }
        let rule = widths.enumerated().map { column, width in
            String(repeating: "-", count: width + 1) + (column == 0 ? "-" : ":")
        }
        lines.insert("|" + rule.joined(separator: "|") + "|", at: 1)
        return lines.joined(separator: "\n")
    }
}

extension BinaryFloatingPoint {
    /// With this many decimal places.
    func text(_ digits: Int = 0) -> String {
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        let scaled = (Double(self) * scale).rounded()
        guard scaled.isFinite, abs(scaled) < 1e15 else { return "-" }
        let (whole, fraction) = Int(abs(scaled)).quotientAndRemainder(dividingBy: Int(scale))
        let sign = scaled < 0 ? "-" : ""
        guard digits > 0 else { return "\(sign)\(whole)" }
        let padding = String(repeating: "0", count: digits - "\(fraction)".count)
        return "\(sign)\(whole).\(padding)\(fraction)"
    }
}
