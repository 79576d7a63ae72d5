import ArgumentParser
import Foundation
import PurchaseAPI
import PurchaseLedger
import PurchaseServer
import PurchaseVerification

/// `assay list`: entries of one kind, as the HTTP API has them.
struct ListEntries: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists purchases, orders, claims, changes, customers, and whatever else the ledger has.",
        discussion: ListKind.all.map { kind in
            let takes = kind.takes.isEmpty ? "" : " (\(kind.takes.joined(separator: ", ")))"
            return "\(kind.name): \(kind.abstract)\(takes)."
        }.joined(separator: "\n"))

    @OptionGroup var options: OperatorOptions
    @OptionGroup var filter: ListFilter

    @Option(name: .long, help: "The maximum number of entries.")
    var limit = 50

    @Flag(name: .long, help: "Print one JSON object a line, as the HTTP API has it.")
    var json = false

    @Argument(help: "What is listed: \(ListKind.all.map(\.name).joined(separator: ", ")).")
    var kind: String

    @Argument(help: "For customers: the beginning of their id or of an order, a transaction id or an account token.")
    var text: String?

    func validate() throws {
        guard (1...1_000_000).contains(limit) else {
            throw ValidationError("'--limit' takes a number from 1 to 1,000,000, not \(limit).")
        }
        let known = ListKind.all.map(\.name)
        guard let kind = named else {
            let meant = WordSuggestion.nearest(to: kind, among: known).map { "Did you mean '\($0)'? " } ?? ""
            let all = known.joined(separator: ", ")
            throw ValidationError("There is no list '\(self.kind.printable)'. \(meant)There are \(all).")
        }
        guard text == nil || kind.takes.contains(ListFilter.text) else {
            throw ValidationError("'assay list \(kind.name)' takes no '\((text ?? "").printable)'.")
        }
        let given = filter.given + (options.namedApp != nil && !kind.isOfApp ? ["--app"] : [])
        if let wrong = given.first(where: { !kind.takes.contains($0) }) {
            let right = kind.takes.isEmpty ? "none" : kind.takes.joined(separator: ", ")
            throw ValidationError("'assay list \(kind.name)' does not take \(wrong), but \(right).")
        }
        if let state = filter.state, !kind.states.contains(state) {
            throw ValidationError(
                "--state is '\(state.printable)'. Write one of \(kind.states.sorted().joined(separator: ", ")).")
        }
        guard kind.needs.isEmpty || filter.given.contains(where: kind.needs.contains) else {
            throw ValidationError("'assay list \(kind.name)' needs \(kind.needs.joined(separator: " or ")).")
        }
    }

    private var named: ListKind? { ListKind.all.first { $0.name == kind } }

    func run() async throws {
        guard let kind = named else { return }
        guard kind.isOfApp else {
            return try await options.ledger.withLedger(.reading) { try write(try await kind.read(self, $0, ""), kind) }
        }
        try await options.withLedger(.reading) { try write(try await kind.read(self, $0, $1), kind) }
    }

    private func write(_ found: Listed, _ kind: ListKind) throws {
        if json {
            for message in found.messages { try MessageText.write(message) }
        } else if found.messages.isEmpty {
            Terminal.remark(kind.hint ?? "there are none")
        } else {
            let rows = try found.messages.map { try MessageText.members($0) }
            Terminal.write(kind.text?(rows) ?? kind.table(of: rows).text(indent: 0))
        }
        if found.hasMore { Terminal.remark("there are more; name a higher --limit") }
    }

    /// The entries that a page has at most.
    private static let pageEntries = 500

    /// Reads pages up to the limit.
    func entries<List: LedgerList, Entry>(
        of list: List, _ ledger: PurchaseLedger, _ message: (Entry) -> any Encodable
    ) async throws -> Listed where List.Answer == ListPage<Entry, List.Cursor> {
        var (list, found) = (list, Listed(messages: []))
        while true {
            list.limit = min(limit - found.messages.count, Self.pageEntries)
            let page = try await ledger.answer(list)
            found.messages += page.entries.map(message)
            guard let next = page.next else { return found }
            guard found.messages.count < limit else {
                found.hasMore = true
                return found
            }
            list.cursor = next
        }
    }

    /// The entries of an answer that has all of them, up to one more than the limit.
    func entries<Entry>(of all: [Entry], _ message: (Entry) -> any Encodable) -> Listed {
        Listed(messages: all.prefix(limit).map(message), hasMore: all.count > limit)
    }
}

/// Entries, and whether there can be more.
struct Listed {
    var messages: [any Encodable]
    var hasMore = false
}

/// The options that restrict a list. Each kind of list takes some of them.
struct ListFilter: ParsableArguments {
    static let text = "TEXT"

    @Option(name: .long, help: "Only entries of this customer.")
    var customer: String?

    @Option(name: .long, help: "Only entries of this order.")
    var order: UUID?

    @Option(name: .long, help: "Only entries of this transaction.")
    var transaction: String?

    @Option(name: .long, help: "Only orders, refund requests or external purchase tokens in this state.")
    var state: String?

    @Option(name: .long, help: "Only claims with this code.")
    var code: String?

    @Option(name: .long, help: "Only claims with this verdict: accepted, rejected or undetermined.")
    var verdict: String?

    @Option(name: .long, help: "Only claims that the App Store refused or contradicted.")
    var appStore: String?

    @Option(name: .long, help: "Only notifications of this type, by Apple's name.")
    var type: String?

    @Option(name: .long, help: "Begin after this event, by its id.")
    var after: String?

    func validate() throws {
        _ = try choice(verdict, "--verdict", Verdict.self)
        _ = try choice(appStore, "--app-store", AppStoreAnswerFilter.self)
        if let after, EventContent.number(inID: after) == nil {
            throw ValidationError("--after is '\(after.printable)', which is not the id of an event.")
        }
    }

    /// The names of the options that are given.
    var given: [String] {
        let named: [(String, Any?)] = [
            ("--customer", customer), ("--order", order), ("--transaction", transaction), ("--state", state),
            ("--code", code), ("--verdict", verdict), ("--app-store", appStore), ("--type", type), ("--after", after),
        ]
        return named.filter { $0.1 != nil }.map(\.0)
    }

    /// The value of an option that has a few.
    func choice<Choice: RawRepresentable & CaseIterable>(
        _ text: String?, _ option: String, _: Choice.Type = Choice.self
    ) throws -> Choice? where Choice.RawValue == String {
        guard let text else { return nil }
        guard let choice = Choice(rawValue: text) else {
            let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("\(option) is '\(text.printable)'. Write one of \(known).")
        }
        return choice
    }
}

/// A kind of entries: what restricts the list, its columns, and how it is read.
struct ListKind: Sendable {
    let name: String
    let abstract: String
    var takes: [String] = []
    /// The values of `--state`.
    var states: [String] = []
    /// The options of which one must be given; none if all can be left out.
    var needs: [String] = []
    /// Headings, and the members that they show (`MessageText.table`). The member `count` is the number of equal rows
    /// that one line stands for.
    let columns: KeyValuePairs<String, String>
    /// The members in which rejected claims are equal, so that one line stands for them.
    var joined: [String] = []
    /// Whether an app is named.
    var isOfApp = true
    /// What is said if there are none.
    var hint: String?
    /// A form other than a table.
    var text: (@Sendable ([[String: Any]]) -> String)?
    let read: @Sendable (ListEntries, PurchaseLedger, String) async throws -> Listed

    /// A line for each entry, or for several equal ones.
    func table(of rows: [[String: Any]]) -> TextTable {
        var (shown, rest): ([[String: Any]], ArraySlice<[String: Any]>) = ([], rows[...])
        while var first = rest.first {
            let isJoined = !joined.isEmpty && first["verdict"] as? String == "rejected"
            let equal =
                isJoined
                ? rest.prefix { row in
                    joined.allSatisfy { MessageText.cell(row, $0) == MessageText.cell(first, $0) }
                } : [first]
            rest = rest.dropFirst(max(1, equal.count))
            let count = equal.reduce(0) { $0 + (($1["refusals"] ?? $1["count"]) as? Int ?? 1) }
            first["count"] = count > 1 ? count : nil
            shown.append(first)
        }
        return MessageText.table(columns, shown)
    }
}
