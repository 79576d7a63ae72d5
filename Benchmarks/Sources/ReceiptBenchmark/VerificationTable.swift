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
