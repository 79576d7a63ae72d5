import ArgumentParser
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseServer

/// `assay submissions`: the record of claims.
struct Submissions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "submissions", abstract: "Lists and shows claims as they were submitted.",
        subcommands: [ListSubmissions.self, ShowSubmission.self])
}

/// `assay submissions list`.
struct ListSubmissions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists claims as they were submitted, newest first.",
        discussion: """
            Equal rejections in succession, of the same customer and transaction, are one line with a count. With --json, \
            each is an object.
            """)

    @OptionGroup var options: OperatorOptions
    @OptionGroup var list: ListOptions

    @Option(name: .long, help: "Only claims of this customer.")
    var customer: String?

    @Option(name: .long, help: "Only claims for this order.")
    var order: String?

    @Option(name: .long, help: "Only claims of this transaction.")
    var transaction: String?

    @Option(name: .long, help: "Only claims with this code.")
    var code: String?

    @Option(name: .long, help: "accepted, rejected or undetermined.")
    var verdict: String?

    @Option(name: .long, help: "The App Store's answer about the claim: refused or contradicted.")
    var appStore: String?

    func run() async throws {
        var filter = SubmissionFilter()
        (filter.customerID, filter.transactionID, filter.code) = (customer, transaction, code)
        try Self.choose(verdict, "--verdict", \.verdict, in: &filter)
        try Self.choose(appStore, "--app-store", \.appStore, in: &filter)
        if let order {
            guard let id = UUID(uuidString: order) else { throw InputError(order, "is not the id of an order") }
            filter.orderID = id
        }
        let selected = filter
        try await options.withLedger(.reading) { ledger, app in
            let found = try await list.entries(of: SubmissionList(app: app, filter: selected), ledger)
            try list.write(
                Self.table(found.entries), json: found.entries.map { SubmissionMessage($0) }, hasMore: found.hasMore)
        }
    }

    /// Sets a field of the filter to the value that an option names.
    private static func choose<Choice: RawRepresentable & CaseIterable>(
        _ text: String?, _ option: String, _ field: WritableKeyPath<SubmissionFilter, Choice?>,
        in filter: inout SubmissionFilter
    ) throws where Choice.RawValue == String {
        guard let text else { return }
        guard let choice = Choice(rawValue: text) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("\(option) is '\(text.printable)'. Write one of \(known).")
        }
        filter[keyPath: field] = choice
    }

    /// A line for each claim, or for several equal rejections.
    private static func table(_ submissions: [SubmissionRecord]) -> TextTable {
        var table = TextTable([
            "SUBMISSION", "RECEIVED", "CODE", "COUNT", "CUSTOMER", "TRANSACTION", "PRODUCT", "ORDER", "EXPECTED",
            "FOUND",
        ])
        var rest = submissions[...]
        while let first = rest.first {
            let count = first.verdict == .rejected ? rest.prefix { first.isRepeated(by: $0) }.count : 1
            let number = rest.prefix(count).reduce(0) { $0 + ($1.refusals ?? 1) }
            rest = rest.dropFirst(count)
            table.append([
                first.submissionID.uuidString.lowercased(), "\(first.receivedAt)", first.code.printable,
                number > 1 ? "\(number)" : "-", first.customerID.cell, first.transactionID.cell, first.productID.cell,
                first.orderID.cell, first.expected.cell, first.found.cell,
            ])
        }
        return table
    }
}

extension SubmissionRecord {
    /// Whether another claim has the same code, customer and transaction.
    fileprivate func isRepeated(by other: SubmissionRecord) -> Bool {
        ExactText(code) == ExactText(other.code)
            && customerID.map { ExactText($0) } == other.customerID.map { ExactText($0) }
            && transactionID.map { ExactText($0) } == other.transactionID.map { ExactText($0) }
    }
}

/// `assay submissions show`.
struct ShowSubmission: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows a claim as it was submitted, and the decision.")

    @OptionGroup var options: OperatorOptions

    @Flag(name: .long, help: "Print one JSON object.")
    var json = false

    @Argument(help: "The id of the submission.")
    var submission: String

    func run() async throws {
        try await options.withLedger(.reading) { ledger, app in
            guard let id = UUID(uuidString: submission) else {
                throw InputError(submission, "is not the id of a submission")
            }
            guard let record = try await ledger.answer(SubmissionByID(app: app, submissionID: id)) else {
                Terminal.complain("submission_unknown: there is no such submission")
                throw ExitCode.rejected
            }
            let message = SubmissionMessage(record)
            if json { try ListOptions.write(message) } else { Terminal.write(try FactList.text(message)) }
        }
    }
}
