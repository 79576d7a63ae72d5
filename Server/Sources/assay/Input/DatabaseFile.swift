import Foundation

/// The file of a database, checked before SQLite opens it: SQLite has one message for a missing folder, a folder in its
/// place and a lack of permission.
enum DatabaseFile {
    /// Checks that the file can be opened for writing or created.
    ///
    /// - Parameter path: the file, from the root.
    /// - Throws: `InputError` with the obstacle and the action to take.
    static func requireUsable(_ path: String) throws {
        let manager = FileManager.default
        let folder = (path as NSString).deletingLastPathComponent
        var isFolder: ObjCBool = false
        guard manager.fileExists(atPath: folder, isDirectory: &isFolder) else {
            throw InputError(
                "sqlite:\(path)",
                "the folder '\(folder)' does not exist; create it, or name another file with --database")
        }
        guard isFolder.boolValue else {
            throw InputError("sqlite:\(path)", "'\(folder)' is a file, not a folder; name another file with --database")
        }
        if manager.fileExists(atPath: path, isDirectory: &isFolder) {
            guard !isFolder.boolValue else {
                throw InputError(
                    "sqlite:\(path)", "is a folder; name a file in it, such as sqlite:\(path)/assay.sqlite")
            }
            guard manager.isReadableFile(atPath: path), manager.isWritableFile(atPath: path) else {
                throw InputError(
                    "sqlite:\(path)", "this user may not read and write the file; change its owner or mode")
            }
        }
        guard manager.isWritableFile(atPath: folder) else {
            throw InputError(
                "sqlite:\(path)",
                "this user may not create files in '\(folder)', and SQLite keeps two files beside the database")
        }
    }
}
