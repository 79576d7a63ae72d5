import ArgumentParser
import Foundation
import PurchaseLedger
import PurchaseServer
import PurchaseVerification

/// The settings of a command, with the address of its database.
struct LedgerPlace {
    var configuration: ServerConfiguration
    /// What is probably a mistake in the environment.
    let warnings: [SettingProblem]
    /// The absolute path of the settings file; `nil` if none was read.
    let path: String?
    /// Its path as given, for messages; `nil` if none was read.
    let name: String?

    /// The file of the key of answers, as the option, the environment or the settings file name it.
    func answerKeyFile() throws -> String {
        guard let path = configuration.answerKeyFile else {
            throw ValidationError(
                "No file of the key of answers is named; use --answer-key FILE or \(ServerSetting.answerKey.name).")
        }
        return LedgerDatabaseOptions.absolute(path)
    }

    /// The keys of the record, and the places of its checkpoints.
    var recordKeys: RecordKeys { RecordKeys(configuration.record, remark: Terminal.remark) }

    /// The address of the database: `sqlite:PATH` or a URL of PostgreSQL.
    var url: String { configuration.database }

    /// Opens the database, and prints its address on standard error.
    func open(isCreating: Bool) throws -> any LedgerDatabase {
        if LedgerDatabases.isPostgreSQL(url) { return try openServer(url) }
        let file = try databaseFile(url, isCreating: isCreating)
        do {
            return try SQLiteDatabase(path: file)
        } catch {
            throw InputError("sqlite:\(file)", "\(error)")
        }
    }

    /// The path of an existing SQLite database, which is named on standard error.
    func existingFile() throws -> String { try databaseFile(url, isCreating: false) }

    /// The address of the database for people: a path from the root, or a URL without its password.
    var databaseName: String {
        if LedgerDatabases.isPostgreSQL(url) { return LedgerDatabases.withoutSecrets(url) }
        return "sqlite:\(LedgerDatabaseOptions.absolute(String(url.dropFirst("sqlite:".count))))"
    }

    /// The folder of a SQLite database; `nil` for PostgreSQL, whose disk belongs to its server.
    var databaseFolder: String? {
        guard !LedgerDatabases.isPostgreSQL(url) else { return nil }
        let file = LedgerDatabaseOptions.absolute(String(url.dropFirst("sqlite:".count)))
        return (file as NSString).deletingLastPathComponent
    }

    private func databaseFile(_ url: String, isCreating: Bool) throws -> String {
        let database = LedgerDatabaseOptions.absolute(String(url.dropFirst("sqlite:".count)))
        guard isCreating || FileManager.default.fileExists(atPath: database) else {
            throw InputError(database, "there is no such database; name it with --database or --config")
        }
        Terminal.remark("database sqlite:\(database), settings \(path ?? "none")")
        try DatabaseFile.requireUsable(database)
        return database
    }

    private func openServer(_ url: String) throws -> any LedgerDatabase {
        let name = LedgerDatabases.withoutSecrets(url)
        Terminal.remark("database \(name), settings \(path ?? "none")")
        do {
            return try PostgreSQLDatabase(url: url)
        } catch {
            throw InputError(name, "\(error)")
        }
    }
}

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
