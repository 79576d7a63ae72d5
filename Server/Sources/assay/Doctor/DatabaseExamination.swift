import Foundation
import PurchaseLedger
import PurchaseServer
import PurchaseVerification
import TextFormats

/// Whether the database can be used, is safe, and has space.
struct DatabaseExamination {
    let place: LedgerPlace
    let now: Timestamp

    /// Below this part of the disk a warning is given.
    private static let littleSpace = 0.1
    /// Below this part, or these bytes, the server will soon answer 503 `database_full`.
    private static let noSpace = (part: 0.02, bytes: 256 << 20)
    /// Differences of clocks from which a warning is given, and from which entries get wrong times, in milliseconds.
    private static let clockDifference = (warning: Int64(5_000), failed: Int64(60_000))

    /// Examines the database.
    ///
    /// - Parameter body: examines what is in it; called only if its schema is that of this version.
    func findings(_ body: (any LedgerDatabase) async -> [DoctorFinding]) async -> [DoctorFinding] {
        let (name, folder): (String, String?)
        let database: any LedgerDatabase
        do {
            (name, folder) = (place.databaseName, place.file.map { ($0 as NSString).deletingLastPathComponent })
            database = try place.open(isCreating: false)
        } catch {
            let reason = (error as? InputError)?.reason ?? "\(error)"
            return [
                .failed(
                    .database, "cannot be opened: \(reason)",
                    do: reason.hasPrefix("database_full")
                        ? "Free space, or move the database: the server answers 503 database_full until then."
                        : "Correct 'database' in the settings, or start 'assay serve' once, which creates a SQLite file."
                )
            ]
        }
        var findings = await examine(database, name, folder, body)
        do {
            try await database.close()
        } catch {
            findings.append(.warning(.database, "closing it failed: \(error)", do: "Look into the database's own log."))
        }
        return findings
    }

    private func examine(
        _ database: any LedgerDatabase, _ name: String, _ folder: String?,
        _ body: (any LedgerDatabase) async -> [DoctorFinding]
    ) async -> [DoctorFinding] {
        let condition: DatabaseCondition
        do {
            condition = try await DatabaseCondition(of: database)
        } catch {
            return [
                .failed(
                    .database, "\(name) does not answer: \(error)",
                    do: "Start it, or correct its address, user and password in 'database'.")
            ]
        }
        var findings = [DoctorFinding.fine(.database, "\(name) answers and has \(Self.size(condition.bytes))")]
        let isCurrent = await schema(condition, database, &findings)
        if isCurrent { await writes(database, condition, &findings) }
        if let folder { findings.append(Self.space(of: folder)) }
        findings.append(Self.durability(condition, folder))
        if let time = condition.time { findings.append(clock(time)) }
        return isCurrent ? findings + (await body(database)) : findings
    }

    private func schema(
        _ condition: DatabaseCondition, _ database: any LedgerDatabase, _ findings: inout [DoctorFinding]
    ) async -> Bool {
        let newest = LedgerMigrations.current
        do {
            try await LedgerMigrations.requireCurrent(database)
            findings.append(.fine(.databaseSchema, "schema \(newest), which this version writes"))
            return true
        } catch let error as LedgerStorageError where error.kind == .schemaTooOld {
            findings.append(
                .failed(
                    .databaseSchema,
                    "the database is at schema \(condition.schema.map { "\($0)" } ?? "none"), this version needs \(newest)",
                    do: "Make a backup and run 'assay database migrate', or start 'assay serve', which does the same."))
        } catch {
            let error = error as? LedgerStorageError ?? LedgerStorageError(.other, "\(error)")
            findings.append(.failed(.databaseSchema, error.detail, do: error.kind.sentence))
        }
        return false
    }

    private func writes(
        _ database: any LedgerDatabase, _ condition: DatabaseCondition, _ findings: inout [DoctorFinding]
    ) async {
        let action = "Give the server's user the right to write, or name the database that accepts writes."
        if condition.isReadOnly {
            return findings.append(.failed(.databaseWrites, "the database is read-only", do: action))
        }
        do {
            let ledger = try await PurchaseLedger.openRecorded(
                database: database, verifier: PurchaseVerifier(anchors: TrustAnchor.apple)
            ) { Timestamp(Date()) }
            try await ledger.perform(ProbeReadiness())
            findings.append(.fine(.databaseWrites, "a test write was committed"))
        } catch {
            findings.append(.failed(.databaseWrites, "a test write failed: \(error)", do: action))
        }
    }

    /// The space of the disk that a SQLite file is on. That of PostgreSQL's machine is not known here.
    private static func space(of folder: String) -> DoctorFinding {
        let values: [FileAttributeKey: Any]
        do {
            values = try FileManager.default.attributesOfFileSystem(forPath: folder)
        } catch {
            return .failed(.databaseSpace, "the free space of \(folder) cannot be read: \(error)", do: "Look with df.")
        }
        guard let free = (values[.systemFreeSize] as? NSNumber)?.int64Value,
            let all = (values[.systemSize] as? NSNumber)?.int64Value, all > 0
        else {
            return .failed(.databaseSpace, "the system states no free space of \(folder)", do: "Look with df.")
        }
        let part = Double(free) / Double(all)
        let found = "\(size(free)) of \(size(all)) are free in \(folder) (\(Int(part * 100)) %)"
        let action = "Free space, or move the database: a full disk makes the server answer 503 database_full."
        if part < noSpace.part || free < noSpace.bytes { return .failed(.databaseSpace, found, do: action) }
        return part < littleSpace
            ? .warning(.databaseSpace, found, do: action) : .fine(.databaseSpace, found)
    }

    private static func durability(_ condition: DatabaseCondition, _ folder: String?) -> DoctorFinding {
        guard condition.unsafeSettings.isEmpty else {
            return .failed(
                .databaseDurability, "\(condition.unsafeSettings.joined(separator: ", ")): a crash can lose purchases",
                do: "Set them to 'on' in postgresql.conf and reload PostgreSQL.")
        }
        guard let folder else {
            return .fine(.databaseDurability, "commits wait for PostgreSQL's disk")
        }
        do {
            let time = try SynchronizedFile.write(in: folder)
            return .fine(.databaseDurability, "a file was written through to the disk in \(time)")
        } catch {
            return .failed(
                .databaseDurability, "a file in \(folder) cannot be written through to the disk: \(error)",
                do: "Use a local disk, and give the server's user the right to write in the folder.")
        }
    }

    private func clock(_ time: Timestamp) -> DoctorFinding {
        let difference = time.millisecondsSince1970 - Timestamp(Date()).millisecondsSince1970
        let found =
            "the database's clock is \(abs(difference)) ms \(difference < 0 ? "behind" : "ahead of") this machine's"
        let action = "Synchronize both clocks (NTP): entries and signatures carry the time of this machine."
        if abs(difference) >= Self.clockDifference.failed { return .failed(.clock, found, do: action) }
        if abs(difference) >= Self.clockDifference.warning { return .warning(.clock, found, do: action) }
        return .fine(.clock, found)
    }

    /// A size in the unit that suits it.
    static func size(_ bytes: Int64) -> String {
        for (unit, scale) in [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)] where Double(bytes) >= scale {
            return "\((Double(bytes) / scale * 10).rounded() / 10) \(unit)"
        }
        return counted(bytes, "byte")
    }
}

/// A file that is written through to the disk, to see whether a folder can do that.
enum SynchronizedFile {
    /// Writes 4 KiB, waits for the disk, and removes the file.
    ///
    /// - Returns: the time that it took.
    static func write(in folder: String) throws -> Duration {
        let path = "\(folder)/.assay-doctor-\(UUID().uuidString)"
        let start = ContinuousClock.now
        try Data(repeating: 0x61, count: 4096).write(to: URL(fileURLWithPath: path), options: .withoutOverwriting)
        let written = Result {
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
            try handle.synchronize()
            try handle.close()
        }
        let time = ContinuousClock.now - start
        // The file must go, also where the disk refused.
        try FileManager.default.removeItem(atPath: path)
        try written.get()
        return .milliseconds(Int64(time / .milliseconds(1)))
    }
}
