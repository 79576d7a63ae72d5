import ArgumentParser
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TextFormats

/// `assay report refunds`: what Apple would have been told about refund requests.
struct ReplayRefunds: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refunds",
        abstract:
            "Shows what Apple would have been told about the refund requests of the last year under other policies.",
        discussion: """
            The file has what assay.yaml has below refunds. Each request is decided again from what the record says of \
            its use at that time. Nothing is written, and Apple is told nothing.
            """)

    @OptionGroup var options: OperatorOptions

    @Option(name: .long, help: "The file with the other policies.")
    var policy: String

    @Option(name: .long, help: "How many days back.")
    var days: Int = 365

    func run() async throws {
        guard (1...3_650).contains(days) else { throw ValidationError("--days is a number from 1 to 3650.") }
        let policies = try read()
        try await options.withLedger(.reading) { ledger, app in
            var replay = RefundReplay(under: policies)
            let start = Timestamp(Date()).millisecondsSince1970 - Int64(days) * 86_400_000
            var list = RefundRequestList(app: app, limit: 500)
            repeat {
                let page = try await ledger.answer(list)
                for request in page.entries where request.askedAt.millisecondsSince1970 >= start {
                    replay.add(request.situation, answer: request.answer, refusal: request.message.refusal)
                }
                let isOld = page.entries.last.map { $0.askedAt.millisecondsSince1970 < start } ?? false
                list.cursor = isOld ? nil : page.next
            } while list.cursor != nil
            var table = TextTable(["PRODUCT", "SAID", "OTHER POLICY", "REQUESTS"])
            for line in replay.lines { table.append([line.productID.cell, line.said, line.other, "\(line.count)"]) }
            if !replay.lines.isEmpty { Terminal.write(table.text(indent: 0)) }
            Terminal.write(
                """
                \(counted(replay.compared, "request")) of \(counted(days, "day")), \(replay.differences) with another \
                answer; \
                \(replay.undecided) without a recorded decision

                """)
        }
    }

    private func read() throws -> RefundPolicies {
        let bytes = try InputFile.read(policy)
        do throws(SettingProblems) {
            return try RefundPolicies(settings: bytes)
        } catch {
            throw InputError(policy, "\(error)")
        }
    }
}
