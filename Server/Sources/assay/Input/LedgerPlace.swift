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

    /// The path of a SQLite database, from the root; `nil` for PostgreSQL, whose disk belongs to its server.
    var file: String? {
        guard !LedgerDatabases.isPostgreSQL(url) else { return nil }
        return LedgerDatabaseOptions.absolute(String(url.dropFirst("sqlite:".count)))
    }

    /// The address of the database for people: a path from the root, or a URL without its password.
    var databaseName: String { file.map { "sqlite:\($0)" } ?? LedgerDatabases.withoutSecrets(url) }

    /// The SQLite database, if another process has it open.
    func fileInUse() throws -> String? {
        guard let file, FileManager.default.fileExists(atPath: file) else { return nil }
        return try SQLiteDatabase.isOpenElsewhere(file) ? file : nil
    }

    /// Opens the database, and prints its address on standard error.
    func open(isCreating: Bool) throws -> any LedgerDatabase {
        let file = try usableFile(isCreating: isCreating)
        do {
            if let file { return try SQLiteDatabase(path: file) }
            let database = try PostgreSQLDatabase(url: url)
            if let remark = database.remark { Terminal.remark(remark) }
            return database
        } catch {
            throw InputError(databaseName, "\(error)")
        }
    }

    /// The path of a SQLite database that can be used; `nil` for PostgreSQL. Either is named on standard error.
    func usableFile(isCreating: Bool = false) throws -> String? {
        if let file, !isCreating, !FileManager.default.fileExists(atPath: file) {
            throw InputError(file, "there is no such database; name it with --database or --config")
        }
        Terminal.remark("database \(databaseName), settings \(path ?? "none")")
        if let file { try DatabaseFile.requireUsable(file) }
        return file
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
        if let obstacle = obstacle(path) { throw InputError("sqlite:\(path)", obstacle) }
    }

    private static func obstacle(_ path: String) -> String? {
        let manager = FileManager.default
        let folder = (path as NSString).deletingLastPathComponent
        var isFolder: ObjCBool = false
        guard manager.fileExists(atPath: folder, isDirectory: &isFolder) else {
            return "the folder '\(folder)' does not exist; create it, or name another file with --database"
        }
        guard isFolder.boolValue else {
            return "'\(folder)' is a file, not a folder; name another file with --database"
        }
        if manager.fileExists(atPath: path, isDirectory: &isFolder) {
            if isFolder.boolValue { return "is a folder; name a file in it, such as sqlite:\(path)/assay.sqlite" }
            guard manager.isReadableFile(atPath: path), manager.isWritableFile(atPath: path) else {
                return "this user may not read and write the file; change its owner or mode"
            }
        }
        guard manager.isWritableFile(atPath: folder) else {
            return "this user may not create files in '\(folder)', and SQLite keeps two files beside the database"
        }
        return nil
    }
}
