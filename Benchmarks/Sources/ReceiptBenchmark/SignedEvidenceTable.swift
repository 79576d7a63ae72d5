import AllocationCounter

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
