import ArgumentParser
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

/// A folder as a list of the files in it.
enum InputFolder {
    /// The paths with each folder replaced by its files, at any depth, in order of their paths. Hidden files are left
    /// out, and links to folders are not followed.
    ///
    /// - Throws: `InputError` if a folder has no files.
    static func expanding(_ paths: [String]) throws -> [String] {
        var files: [String] = []
        for path in paths {
            guard path != "-", isFolder(path) else {
                files.append(path)
                continue
            }
            files += try Self.files(in: path)
        }
        return files
    }

    /// The files of a folder, at any depth, in order of their paths. Hidden files are left out, and links to folders
    /// are not followed.
    ///
    /// - Parameter listsLinks: whether links to folders are listed, for callers that refuse all links.
    /// - Throws: `InputError` if the folder has no files.
    static func files(in folder: String, listingLinksToFolders listsLinks: Bool = false) throws -> [String] {
        let found = contents(of: folder, listsLinks)
        guard !found.isEmpty else { throw InputError(folder, "the folder has no files") }
        return found
    }

    /// Whether a path is a symbolic link.
    static func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    private static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    private static func contents(of folder: String, _ listsLinks: Bool) -> [String] {
        guard let enumerator = FileManager.default.enumerator(atPath: folder) else { return [] }
        var found: [String] = []
        while let name = enumerator.nextObject() as? String {
            let isHidden = (name as NSString).lastPathComponent.hasPrefix(".")
            switch enumerator.fileAttributes?[.type] as? FileAttributeType {
            case .typeDirectory?:
                if isHidden { enumerator.skipDescendants() }
            case .typeRegular?, .typeSymbolicLink?:
                let path = (folder as NSString).appendingPathComponent(name)
                if !isHidden, listsLinks || !isFolder(path) { found.append(path) }
            default: break
            }
        }
        return found.sorted()
    }
}

/// The file that a command writes its result to.
struct OutputOption: ParsableArguments {
    @Option(name: [.short, .long], help: "The file to write; without it, standard output.") var output: String?

    func write(_ bytes: [UInt8]) throws {
        guard let output, output != "-" else { return Terminal.write(bytes) }
        try OutputFile.write(bytes, to: output)
    }
}

/// The output file that a user named.
enum OutputFile {
    /// Writes to a file atomically. A device or a pipe is written to and not replaced; for a link, its target is.
    ///
    /// - Throws: `InputError`.
    static func write(_ bytes: some Sequence<UInt8>, to path: String) throws {
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        do {
            // A name that exists only in the system's folders, such as /dev/stdout, does not show its type.
            let isThere = FileManager.default.fileExists(atPath: path)
            let isReachable = FileManager.default.fileExists(atPath: target.path)
            let kind =
                isReachable
                ? try FileManager.default.attributesOfItem(atPath: target.path)[.type] as? FileAttributeType : nil
            guard isThere, kind != .typeRegular else { return try Data(bytes).write(to: target, options: .atomic) }
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try file.write(contentsOf: Data(bytes))
            try file.close()
        } catch {
            throw InputError(path, "cannot be written")
        }
    }
}
