import Foundation
import PurchaseVerification
import Synchronization
import UnixSignals

/// The value of a column.
enum ExportCell {
    case text(String?)
    case number(Int64?)
    case flag(Bool?)

    static func time(_ time: AppStoreTime?) -> ExportCell { .text(time.map { "\($0)" }) }
}

/// The format of an export.
enum ExportFormat: String, CaseIterable {
    /// RFC 4180, with the names of the columns in the first line.
    case csv
    /// An object a line, with every column.
    case ndjson

    func head(_ columns: [String]) -> String { self == .csv ? columns.joined(separator: ",") + "\r\n" : "" }

    package func row(_ columns: [String], _ cells: [ExportCell]) -> String {
        switch self {
        case .csv: cells.map(Self.field).joined(separator: ",") + "\r\n"
        case .ndjson:
            "{" + zip(columns, cells).map { "\"\($0)\":\(Self.value($1))" }.joined(separator: ",") + "}\n"
        }
    }

    private static func field(_ cell: ExportCell) -> String {
        switch cell {
        case .number(let number): return number.map { "\($0)" } ?? ""
        case .flag(let flag): return flag.map { "\($0)" } ?? ""
        case .text(let text):
            let text = guarded(text ?? "")
            guard text.unicodeScalars.contains(where: { "\",\r\n".unicodeScalars.contains($0) }) else { return text }
            // By scalars: with a combining mark behind it, a quotation mark is another Character.
            var field = "\""
            for scalar in text.unicodeScalars {
                if scalar == "\"" { field += "\"" }
                field.unicodeScalars.append(scalar)
            }
            return field + "\""
        }
    }

    /// The text with an apostrophe before each sign with which a cell begins, invisible characters left out: a
    /// spreadsheet would run it as a formula. Behind a semicolon or a tab, some begin another cell.
    private static func guarded(_ text: String) -> String {
        var (guarded, isStart) = (String.UnicodeScalarView(), true)
        for scalar in text.unicodeScalars {
            if isStart, "=+-@＝＋－＠".unicodeScalars.contains(scalar) { guarded.append("'") }
            isStart =
                ";\t\r\n".unicodeScalars.contains(scalar)
                || isStart && (VisibleText.isHidden(scalar) || scalar.properties.isWhitespace)
            guarded.append(scalar)
        }
        return String(guarded)
    }

    private static func value(_ cell: ExportCell) -> String {
        switch cell {
        case .number(let number): return number.map { "\($0)" } ?? "null"
        case .flag(let flag): return flag.map { "\($0)" } ?? "null"
        case .text(let text):
            guard let text else { return "null" }
            var json = "\""
            for scalar in text.unicodeScalars {
                if scalar == "\"" || scalar == "\\" {
                    json += "\\\(scalar)"
                } else if scalar.value < 0x20 {
                    json += "\\u00\(scalar.value < 16 ? "0" : "")\(String(scalar.value, radix: 16))"
                } else {
                    json.unicodeScalars.append(scalar)
                }
            }
            return json + "\""
        }
    }
}

/// Where an export goes: to standard output, or to a file that gets its name when it is whole.
final class ExportFile: Sendable {
    private let name: String?
    private let temporary: String
    private let handle: FileHandle?
    private let waiting = Mutex<[UInt8]>([])
    private static let bufferBytes = 1 << 16

    /// - Parameter name: `nil` for standard output.
    init(_ name: String?) async throws {
        self.name = name
        guard let name else {
            (temporary, handle) = ("", nil)
            return
        }
        temporary = "\(name).\(UUID().uuidString.prefix(8)).part"
        let kind = try? FileManager.default.attributesOfItem(atPath: name)[.type] as? FileAttributeType
        guard kind ?? .typeRegular == .typeRegular else { throw InputError(name, "is no file; leave out --output") }
        // It has the names of customers.
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw InputError(name, String(cString: strerror(errno))) }
        handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        Task {
            for await _ in signals {
                discard()
                Foundation.exit(Interruption.status)
            }
        }
    }

    func write(_ text: String) throws {
        let full = waiting.withLock { waiting -> [UInt8]? in
            waiting += text.utf8
            guard waiting.count >= Self.bufferBytes else { return nil }
            defer { waiting = [] }
            return waiting
        }
        if let full { try put(full) }
    }

    /// Writes what waits, and gives the file its name.
    func finish() throws {
        try put(waiting.withLock { $0 })
        guard let name, let handle else { return }
        do { try handle.synchronize() } catch { throw InputError(name, "cannot be written") }
        guard rename(temporary, name) == 0 else { throw InputError(name, String(cString: strerror(errno))) }
    }

    /// Removes what was written of a file that is not whole.
    func discard() { if handle != nil { unlink(temporary) } }

    private func put(_ bytes: [UInt8]) throws {
        guard let handle, let name else {
            // On a terminal nothing hidden may be in it.
            return Terminal.isOutputTerminal
                ? Terminal.write(String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n"))
                : Terminal.write(bytes)
        }
        do { try handle.write(contentsOf: Data(bytes)) } catch { throw InputError(name, "cannot be written: \(error)") }
    }
}
