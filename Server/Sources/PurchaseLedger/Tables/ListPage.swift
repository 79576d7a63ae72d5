/// The position at which a page of a list continues: the values of the columns in whose order the list is.
public protocol ListCursor: Sendable, Hashable {
    init?(numbers: [Int64])
    var numbers: [Int64] { get }
}

extension Int64: ListCursor {
    public init?(numbers: [Int64]) {
        guard numbers.count == 1 else { return nil }
        self = numbers[0]
    }

    public var numbers: [Int64] { [self] }
}

/// A page of a list. It can be shorter than the limit, or empty, although there is a next one: where no index serves a
/// filter, a page reads a bounded number of rows.
public struct ListPage<Entry: Sendable, Cursor: ListCursor>: Sendable {
    public var entries: [Entry] = []
    /// The start of the next page; `nil` if this is the last.
    public var next: Cursor?
    /// The position up to which everything was read, in a list that grows at its end.
    public var end: Cursor?
    /// The customer into whom the one of the query was merged; `nil` if they were not.
    public var mergedInto: String?

    /// The empty page.
    init() {}

    /// Reads a page.
    ///
    /// - Parameters:
    ///   - start: the position at which the previous page ended; `nil` for the first page.
    ///   - mostRows: the maximum number of rows that are read, or one more than the limit if that is higher.
    ///   - rows: the rows after a position, at most a number, in the order of the list.
    ///   - cursor: the position of a row.
    ///   - select: the entry of a row; `nil` if the filter excludes it.
    init<Row>(
        after start: Cursor?, limit: Int, mostRows: Int = 512, rows: (Cursor?, Int) throws -> [Row],
        cursor: (Row) -> Cursor, select: (Row) throws -> Entry?
    ) throws {
        let count = max(1, limit)
        var (place, last, left, size) = (start, start, max(count + 1, mostRows), count + 1)
        while left > 0 {
            let read = try rows(place, size)
            for row in read {
                place = cursor(row)
                guard let entry = try select(row) else { continue }
                guard entries.count < count else {
                    next = last
                    return
                }
                entries.append(entry)
                last = place
            }
            guard read.count == size else { return }
            left -= size
            // If the filter excludes rows, more at a time.
            size = min(left, max(64, 2 * size))
        }
        next = place
    }

    func map<Other>(_ transform: (Entry) throws -> Other) rethrows -> ListPage<Other, Cursor> {
        var page = ListPage<Other, Cursor>()
        page.entries = try entries.map(transform)
        (page.next, page.end, page.mergedInto) = (next, end, mergedInto)
        return page
    }
}

/// A row of a list.
protocol ListedRow: Sendable {
    /// `SELECT` with its columns, and the tables that have them.
    static var selection: String { get }
    /// The rows whose changes by the same write matter.
    static var scope: ReadScope? { get }
    init(_ reader: inout RowReader) throws(LedgerStorageError)
}

extension ListedRow {
    static var scope: ReadScope? { nil }
}

/// The rows of a list that one index has.
struct ListIndex {
    /// The condition with `?1`, `?2`…, in the words of a partial index if that is meant: SQLite compares the text.
    let condition: String
    let parameters: [LedgerValue]
    /// The table of the condition, if that is another one, which names entries of the journal in the order of the list.
    let table: String?

    init(_ condition: String, _ parameters: [LedgerValue], of table: String? = nil) {
        (self.condition, self.parameters, self.table) = (condition, parameters, table)
    }

    init(_ condition: String, _ keys: Int64...) { self.init(condition, keys.map { .integer($0) }) }
}

/// How a list is read: the indexes that its filter selects, and the order that they have.
struct ListOrder<Row: ListedRow, Cursor: ListCursor> {
    let connection: any LedgerConnection
    let indexes: [ListIndex]
    /// The columns of the order: all numbers of the cursor, or its last ones.
    let columns: [String]
    let isAscending: Bool
    let cursor: (Row) -> Cursor

    init(
        _ connection: any LedgerConnection, _ indexes: [ListIndex], by columns: [String], isAscending: Bool = false,
        cursor: @escaping (Row) -> Cursor
    ) {
        (self.connection, self.indexes, self.columns) = (connection, indexes, columns)
        (self.isAscending, self.cursor) = (isAscending, cursor)
    }

    /// A page of the rows that a filter selects.
    func page<Entry>(
        after start: Cursor?, limit: Int, select: (Row) throws -> Entry?
    ) throws -> ListPage<Entry, Cursor> {
        try ListPage(
            after: start, limit: limit, rows: { try rows(after: $0, limit: $1) }, cursor: cursor, select: select)
    }

    func page(after start: Cursor?, limit: Int) throws -> ListPage<Row, Cursor> {
        try page(after: start, limit: limit) { $0 }
    }

    /// The rows after a position, each once, at most a number.
    func rows(after start: Cursor? = nil, limit: Int = .max) throws(LedgerStorageError) -> [Row] {
        var rows: [Row] = []
        for index in indexes { rows += try self.rows(of: index, after: start, limit: limit) }
        guard indexes.count > 1 || indexes.contains(where: { $0.table != nil }) else { return rows }
        var known: Set<Cursor> = []
        let merged = rows.filter { known.insert(cursor($0)).inserted }.sorted { first, second in
            let (first, second) = (cursor(first).numbers, cursor(second).numbers)
            return isAscending ? first.lexicographicallyPrecedes(second) : second.lexicographicallyPrecedes(first)
        }
        return Array(merged.prefix(limit))
    }

    private func rows(
        of index: ListIndex, after start: Cursor?, limit: Int
    ) throws(LedgerStorageError) -> [Row] {
        let (first, count) = (index.parameters.count + 1, columns.count)
        let places = columns.indices.map { "?\(first + $0)" }.joined(separator: ", ")
        let bounds = start?.numbers.suffix(count) ?? Array(repeating: isAscending ? .min : .max, count: count)[...]
        // One row value, so that every engine starts at the right position in the index.
        let after = "(\(columns.joined(separator: ", "))) \(isAscending ? ">" : "<") (\(places))"
        let order = columns.map { isAscending ? $0 : "\($0) DESC" }.joined(separator: ", ")
        let page = "WHERE \(index.condition) AND \(after) ORDER BY \(order) LIMIT ?\(first + count)"
        let condition =
            index.table.map { "WHERE entry_key IN (SELECT entry_key FROM \($0) \(page))" } ?? page
        return try connection.rows(
            "\(Row.selection) \(condition)", index.parameters + (bounds + [Int64(limit)]).map { .integer($0) },
            of: Row.scope
        ).map { row throws(LedgerStorageError) in
            var reader = row.reader
            return try Row(&reader)
        }
    }
}
