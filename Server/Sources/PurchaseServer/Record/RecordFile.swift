import Foundation
import PurchaseLedger

/// A file of the record that a server creates: a key, or a checkpoint.
enum RecordFile {
    /// Checks that a file can be created or replaced.
    ///
    /// - Throws: `LogError` with the obstacle and the action to take.
    static func requireFolder(of path: String) throws(LogError) {
        let manager = FileManager.default
        let folder = URL(fileURLWithPath: path).standardizedFileURL.deletingLastPathComponent().path
        var isFolder: ObjCBool = false
        guard manager.fileExists(atPath: folder, isDirectory: &isFolder) else {
            throw LogError(
                .fileMissing,
                "'\(path)' cannot be created, because the folder '\(folder)' does not exist; create it, "
                    + "or name another file")
        }
        guard isFolder.boolValue else {
            throw LogError(
                .fileFailed, "'\(path)' cannot be created, because '\(folder)' is not a folder; name another file")
        }
        guard manager.isWritableFile(atPath: folder) else {
            throw LogError(
                .fileFailed,
                "'\(path)' cannot be created, because this user may not create files in '\(folder)'; "
                    + "change its owner or mode, or name another file")
        }
        guard !manager.fileExists(atPath: path, isDirectory: &isFolder) || !isFolder.boolValue else {
            throw LogError(.fileFailed, "'\(path)' is a folder; name a file in it")
        }
    }
}
