import Foundation

/// The temporary files of a move, which name the customers of the app: in a folder that only its owner can read.
struct MoveFiles {
    /// The rows that follow from the app's own record otherwise than they were, because other apps sent evidence of its
    /// purchases, or the app evidence of theirs.
    struct Differences: Codable, Sendable {
        var count: Int
        /// The first of them; empty if there is none.
        var first: String
    }

    let folder: URL
    /// The ledger of the app, once it is computed.
    var ledger: String { folder.appending(path: "ledger.sqlite").path }
    /// The rows that it is computed from.
    var rows: String { folder.appending(path: "rows.sqlite").path }
    private var note: URL { folder.appending(path: "differences.json") }

    /// Creates the empty folder.
    ///
    /// - Throws: `SQLiteBackup.Failure` (`backup_file_unusable`).
    func create() throws {
        remove()
        guard mkdir(folder.path, 0o700) == 0 else {
            throw SQLiteBackup.Failure(
                code: "backup_file_unusable", description: "\(folder.path): \(String(cString: strerror(errno)))")
        }
    }

    /// Removes the folder with all files, also those of an earlier call that was killed.
    func remove() {
        // Usually there is none. One that cannot be removed is refused when it is created.
        try? FileManager.default.removeItem(at: folder)
    }

    /// Notes that the ledger is complete.
    func finish(_ differences: Differences) throws {
        try JSONEncoder().encode(differences).write(to: note, options: .atomic)
    }

    /// The differences of a ledger that is complete; `nil` if there is none.
    func finished() -> Differences? {
        // A note that cannot be read is none: the ledger is written again.
        (try? Data(contentsOf: note)).flatMap { try? JSONDecoder().decode(Differences.self, from: $0) }
    }
}
