import EvidenceMint
import Foundation

/// A file by its path, or standard input as `-`.
enum InputFile {
    /// The largest input that is read as a whole: more than the size limit of a receipt.
    static let limit = 64 << 20

    /// An open file for reading in pieces, and its size if known.
    static func open(_ path: String) throws -> (handle: FileHandle, size: Int?) {
        if path == "-" { return (FileHandle.standardInput, nil) }
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            guard attributes[.type] as? FileAttributeType != .typeDirectory else {
                throw InputError(path, "is a folder")
            }
            return (handle, (attributes[.size] as? NSNumber)?.intValue)
        } catch let error as InputError {
            throw error
        } catch {
            throw InputError(path, reason(error))
        }
    }

    /// All of a file.
    ///
    /// - Throws: `InputError` if it cannot be read, or is larger than a limit in bytes.
    static func read(_ path: String, limit: Int = limit) throws -> [UInt8] {
        let (handle, _) = try open(path)
        do {
            let data = try handle.read(upToCount: limit + 1) ?? Data()
            guard data.count <= limit else { throw InputError(path, "larger than \(limit) bytes") }
            return [UInt8](data)
        } catch let error as InputError {
            throw error
        } catch {
            throw InputError(path, reason(error))
        }
    }

    /// The system's message, without Foundation's wrapping.
    private static func reason(_ error: any Error) -> String {
        let error = error as NSError
        let underlying = (error.userInfo[NSUnderlyingErrorKey] as? NSError) ?? error
        switch underlying.code {
        case Int(ENOENT), CocoaError.fileReadNoSuchFile.rawValue, CocoaError.fileNoSuchFile.rawValue:
            return "no such file"
        case Int(EACCES), CocoaError.fileReadNoPermission.rawValue: return "permission denied"
        case Int(EISDIR): return "is a folder"
        default: return error.localizedDescription
        }
    }
}

/// Something could not be read.
struct InputError: Error, CustomStringConvertible {
    let source: String
    let reason: String

    init(_ source: String, _ reason: String) {
        self.source = source
        self.reason = reason
    }

    var description: String { "\(source.printable): \(reason.printable)" }
}
