import Foundation

/// Reads a CSV file, a file of NDJSON, or a folder, row by row. Memory does not grow with the size of a file; for a
/// folder, the names of its files are kept.
struct ImportReader {
    private enum Source {
        case csv(CSVReader, columns: [ImportColumn])
        case ndjson(InputBytes)
        case folder(FolderRows)
    }

    private var source: Source
    /// The reason why reading ended before the end.
    private(set) var error: InputError?

    /// Opens a file or a folder, recognises its format and reads the header of CSV.
    ///
    /// - Parameter path: `-` is standard input.
    /// - Throws: `InputError` with the reason and what to do.
    init(_ path: String) throws {
        if let folder = try FolderRows(path) {
            source = .folder(folder)
            return
        }
        var bytes = try InputBytes(path)
        try bytes.fill()
        try Self.requireText(bytes)
        bytes.dropByteOrderMark()
        let isJSON = bytes.bytes[bytes.start...].first { !InputBytes.isWhiteSpace($0) } == UInt8(ascii: "{")
        source = isJSON ? .ndjson(bytes) : try Self.csv(bytes)
    }

    /// The share of the input that was read; `nil` if its size is not known.
    var share: Double? {
        switch source {
        case .csv(let reader, _): reader.bytes.share
        case .ndjson(let bytes): bytes.share
        case .folder(let folder): folder.share
        }
    }

    /// The next row; `nil` at the end, and after an error.
    mutating func next() -> ImportRow? {
        do {
            switch source {
            case .csv(var reader, let columns):
                // Taken out, so that its buffer is not copied when it changes.
                source = .folder(FolderRows())
                defer { source = .csv(reader, columns: columns) }
                return try reader.next().map { Self.row($0, columns) }
            case .ndjson(var bytes):
                source = .folder(FolderRows())
                defer { source = .ndjson(bytes) }
                return try Self.line(&bytes)
            case .folder(var folder):
                defer { source = .folder(folder) }
                return try folder.next()
            }
        } catch {
            self.error = error as? InputError ?? InputError("input", "\(error)")
            return nil
        }
    }

    // MARK: NDJSON

    private static func line(_ bytes: inout InputBytes) throws -> ImportRow? {
        while bytes.count > 0 || !bytes.isAtEnd {
            let place = "line \(bytes.line)"
            guard let end = bytes.firstLineEnd ?? (bytes.isAtEnd ? bytes.bytes.count : nil) else {
                guard bytes.count > ImportRow.limit else {
                    try bytes.fill()
                    continue
                }
                try bytes.skipLine()
                return ImportRow(
                    place: place,
                    content: .flaw(ImportFlaw(.rowTooLarge, "a line has more than \(ImportRow.limit) bytes")))
            }
            let text = Array(bytes.bytes[bytes.start..<end])
            bytes.take(upTo: end)
            guard !InputBytes.isBlank(text) else { continue }
            return ImportRow(place: place, content: .json(text))
        }
        return nil
    }

    // MARK: CSV

    private static func csv(_ bytes: InputBytes) throws -> Source {
        let source = bytes.source
        var reader = CSVReader(bytes)
        guard let header = try reader.next() else {
            throw InputError(source, "is empty; the first line of a CSV file names its columns: \(ImportColumn.names)")
        }
        let names: [[UInt8]]
        switch header.fields {
        case .success(let fields): names = fields
        case .failure(let flaw): throw InputError(source, "the header cannot be read: \(flaw.detail)")
        }
        var columns: [ImportColumn] = []
        for name in names {
            guard let column = ImportColumn(name) else {
                if names.count == 1,
                    let other = name.first(where: { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "\t") })
                {
                    let found = other == UInt8(ascii: ";") ? "semicolons" : "tabs"
                    throw InputError(source, "its columns are separated by \(found); separate them by commas")
                }
                throw InputError(source, ImportColumn.complaint(name, of: "column"))
            }
            guard !columns.contains(column) else {
                throw InputError(source, "the header names the column '\(column.rawValue)' twice")
            }
            columns.append(column)
        }
        guard columns.contains(.customerID) else {
            throw InputError(source, "the header lacks the column 'customer_id'")
        }
        let proofs: [ImportColumn] = [.receiptData, .signedTransaction, .originalTransactionID, .transactionID]
        guard proofs.contains(where: columns.contains) else {
            throw InputError(
                source,
                "the header lacks 'receipt_data' and 'signed_transaction'; one of them is needed, or the number of a "
                    + "purchase in 'original_transaction_id' or 'transaction_id'")
        }
        reader.largestFieldCount = columns.count
        return .csv(reader, columns: columns)
    }

    private static func row(_ record: CSVReader.Record, _ columns: [ImportColumn]) -> ImportRow {
        let place = "line \(record.line)"
        switch record.fields {
        case .failure(let flaw): return ImportRow(place: place, content: .flaw(flaw))
        case .success(let fields):
            guard fields.count == columns.count else {
                let detail = "the row has \(fields.count) fields, and the header \(columns.count)"
                return ImportRow(place: place, content: .flaw(ImportFlaw(.rowMalformed, detail)))
            }
            let pairs = zip(columns, fields).map { ($0, $1) }
            return ImportRow(place: place, content: .fields(Dictionary(pairs) { first, _ in first }))
        }
    }

    /// Refuses files that are not text in UTF-8, with what to do.
    private static func requireText(_ bytes: InputBytes) throws {
        if bytes.bytes.starts(with: [0x1F, 0x8B]) {
            throw InputError(
                bytes.source, "is compressed; unpack it first: gzip -dc FILE | assay import --app NAME -")
        }
        if bytes.bytes.starts(with: [0xFF, 0xFE]) || bytes.bytes.starts(with: [0xFE, 0xFF]) {
            throw InputError(bytes.source, "is UTF-16; convert it first: iconv -f UTF-16 -t UTF-8 FILE")
        }
    }
}

/// The files of a folder as rows: one piece of evidence each, named by its customer.
///
/// A file directly in the folder belongs to the customer of its name without the ending; a file in a folder inside
/// belongs to the customer of that folder's name. Symbolic links are refused: they could lead to files that somebody
/// else put there, or to one file for several customers.
struct FolderRows {
    /// The endings that are not part of a customer's name.
    private static let endings: Set<String> = [
        "b64", "base64", "ber", "bin", "der", "jws", "jwt", "p7b", "p7s", "pkcs7", "plist", "receipt", "txt",
    ]

    private let folder: String
    private let files: [String]
    private var position = 0

    /// No files.
    init() { (folder, files) = ("", []) }

    /// The files of a folder, in the order of their paths; `nil` if the path is not a folder.
    ///
    /// - Throws: `InputError` if the folder has no files.
    init?(_ path: String) throws {
        var isFolder: ObjCBool = false
        guard path != "-", FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue
        else { return nil }
        folder = path
        files = try InputFolder.files(in: path, listingLinksToFolders: true)
    }

    var share: Double { Double(position) / Double(max(1, files.count)) }

    mutating func next() throws -> ImportRow? {
        guard position < files.count else { return nil }
        let path = files[position]
        position += 1
        guard !InputFolder.isLink(path) else {
            let detail = "is a symbolic link; put the file itself into the folder"
            return ImportRow(place: path, content: .flaw(ImportFlaw(.rowMalformed, detail)))
        }
        do {
            let content = try InputFile.read(path, limit: ImportRow.limit)
            return ImportRow(
                place: path, content: .fields([.customerID: Array(customer(of: path).utf8), .receiptData: content]))
        } catch let error as InputError {
            // One file that cannot be read does not stop the others.
            return ImportRow(place: path, content: .flaw(ImportFlaw(.rowMalformed, error.reason)))
        }
    }

    private func customer(of path: String) -> String {
        let prefix = folder.hasSuffix("/") ? folder : folder + "/"
        let relative = path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : path
        if let slash = relative.firstIndex(of: "/") { return String(relative[..<slash]) }
        let name = relative as NSString
        return Self.endings.contains(name.pathExtension.lowercased()) ? name.deletingPathExtension : relative
    }
}
