import Foundation

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
