import ArgumentParser
import Foundation
import PurchaseLedger

/// The options of commands that list entries.
struct ListOptions: ParsableArguments {
    private static let pageEntries = 500

    @Option(name: .long, help: "The maximum number of entries.")
    var limit = 50

    @Flag(name: .long, help: "Print one JSON object a line, as the HTTP API has it.")
    var json = false

    func validate() throws {
        guard limit >= 1 else { throw ValidationError("'--limit' takes a number from 1, not \(limit).") }
    }

    /// Reads pages up to the limit.
    ///
    /// - Returns: the entries, and whether there can be more.
    func entries<List: LedgerList, Entry>(
        of list: List, _ ledger: PurchaseLedger
    ) async throws -> (entries: [Entry], hasMore: Bool) where List.Answer == ListPage<Entry, List.Cursor> {
        var (list, entries): (List, [Entry]) = (list, [])
        while true {
            list.limit = min(limit - entries.count, Self.pageEntries)
            let page = try await ledger.answer(list)
            entries += page.entries
            guard let next = page.next else { return (entries, false) }
            guard entries.count < limit else { return (entries, true) }
            list.cursor = next
        }
    }

    /// Prints entries as a table, or each as a line of JSON.
    func write(_ table: TextTable, json messages: [some Encodable], hasMore: Bool) throws {
        if json {
            for message in messages { try Self.write(message) }
        } else if messages.isEmpty {
            Terminal.remark("there are none")
        } else {
            Terminal.write(table.text(indent: 0))
        }
        if hasMore { Terminal.remark("there are more; name a higher --limit") }
    }

    /// Prints an object as a line of JSON.
    static func write(_ message: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        Terminal.write(VisibleText.inJSON([UInt8](try encoder.encode(message))) + [UInt8(ascii: "\n")])
    }
}

extension Optional where Wrapped: CustomStringConvertible {
    /// The text of a cell of a table.
    var cell: String { map { "\($0)".printable } ?? "-" }
}
