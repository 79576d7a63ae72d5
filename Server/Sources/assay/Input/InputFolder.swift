import Foundation

/// A folder as a list of the files in it.
enum InputFolder {
    /// The paths with each folder replaced by its files, at any depth, in order of their paths. Hidden files are left out, and
    /// links to folders are not followed.
    ///
    /// - Throws: `InputError` if a folder has no files.
    static func expanding(_ paths: [String]) throws -> [String] {
        var files: [String] = []
        for path in paths {
            guard path != "-", isFolder(path) else {
                files.append(path)
                continue
            }
            let found = contents(of: path)
            guard !found.isEmpty else { throw InputError(path, "the folder has no files") }
            files += found
        }
        return files
    }

    private static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }

    private static func contents(of folder: String) -> [String] {
        guard let enumerator = FileManager.default.enumerator(atPath: folder) else { return [] }
        var found: [String] = []
        while let name = enumerator.nextObject() as? String {
            let isHidden = (name as NSString).lastPathComponent.hasPrefix(".")
            switch enumerator.fileAttributes?[.type] as? FileAttributeType {
            case .typeDirectory?:
                if isHidden { enumerator.skipDescendants() }
            case .typeRegular?, .typeSymbolicLink?:
                let path = (folder as NSString).appendingPathComponent(name)
                if !isHidden, !isFolder(path) { found.append(path) }
            default: break
            }
        }
        return found.sorted()
    }
}
