/// The reads of one round trip. Reads of one shape become one statement, whose parameters are lists.
struct PostgreSQLFetch {
    private struct Group {
        let shape: ReadShape
        var values: [[LedgerValue]]
        /// Whether the reads become one statement for all, or one for each.
        var isList = true
    }

    private(set) var statements: [PostgreSQLStatement] = []
    private var groups: [Group] = []
    private let numberings: [String]

    var shapes: [ReadShape] { groups.map(\.shape) }

    init(_ reads: [ExpectedRead], _ insertions: [String: Int]) {
        // Numbers are reserved after the locks and before everything else, so that their order is one in which the
        // writes could have run one after the other.
        numberings = insertions.keys.sorted()
        for numbering in numberings {
            statements.append(
                PostgreSQLStatement(
                    "SELECT nextval('\(numbering.replacing(".", with: "_"))_seq') FROM generate_series(1, ?1)",
                    [.integer(Int64(insertions[numbering] ?? 0))]))
        }
        var places: [ObjectIdentifier: Int] = [:]
        var seenByGroup: [Set<[LedgerValue]>] = []
        func add(_ shape: ReadShape, _ values: [LedgerValue]) {
            let place = places[ObjectIdentifier(shape)] ?? groups.count
            if place == groups.count {
                places[ObjectIdentifier(shape)] = place
                groups.append(Group(shape: shape, values: []))
                seenByGroup.append([])
            }
            if seenByGroup[place].insert(values).inserted { groups[place].values.append(values) }
        }
        // PostgreSQL refuses text with a zero byte, so no row contains such text. It comes from unchecked requests.
        for read in reads where !read.values.contains(where: \.hasZeroByte) { add(read.shape, read.values) }
        for place in groups.indices {
            let (shape, values) = (groups[place].shape, groups[place].values)
            groups[place].isList = values.count > 1 && shape.valueCount > 0 && !values.contains { $0.contains(.null) }
            if groups[place].isList {
                statements.append(
                    PostgreSQLStatement(
                        shape.listSQL, (0..<shape.valueCount).map { column in .list(values.map { $0[column] }) }))
            } else {
                for values in values { statements.append(PostgreSQLStatement(shape.flatSQL, values)) }
            }
        }
    }

    /// Stores the rows that were read.
    func take(
        _ outputs: [PostgreSQLSession.Output], _ known: inout [LedgerStatement: PostgreSQLKnownRows],
        _ keys: inout [String: ArraySlice<Int64>]
    ) throws(LedgerStorageError) {
        var rest = outputs[...]
        for numbering in numberings {
            for row in rest.popFirst()?.rows ?? [] {
                var reader = row.reader
                keys[numbering, default: []].append(try reader.integer())
            }
        }
        for group in groups {
            var rows = [[LedgerRow]](repeating: [], count: group.values.count)
            if group.isList {
                for row in rest.popFirst()?.rows ?? [] {
                    guard case .integer(let place) = row.values.first, rows.indices.contains(Int(place) - 1) else {
                        throw LedgerStorageError(.other, "a list of reads was answered with an unknown position")
                    }
                    rows[Int(place) - 1].append(LedgerRow(values: Array(row.values.dropFirst())))
                }
            } else {
                for place in rows.indices { rows[place] = rest.popFirst()?.rows ?? [] }
            }
            for (values, rows) in zip(group.values, rows) {
                guard let statement = group.shape.statement(values[...], rows: { known[$0]?.rows }) else { continue }
                known[statement] = PostgreSQLKnownRows(
                    rows: rows, scope: group.shape.scope, replacement: group.shape.replacement?.sql)
                guard let single = group.shape.single else { continue }
                for row in rows {
                    guard let number = row.values.first else { continue }
                    known[LedgerStatement(single.sql, [number])] = PostgreSQLKnownRows(rows: [row], scope: single.scope)
                }
            }
        }
    }
}

extension LedgerValue {
    fileprivate var hasZeroByte: Bool {
        guard case .text(let text) = self else { return false }
        return text.utf8.contains(0)
    }
}
