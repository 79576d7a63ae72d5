import Foundation
import PurchaseVerification

/// How old the newest backup is.
struct BackupExamination {
    let folder: String
    let now: AppStoreTime

    /// A daily backup, and half a day for a late one, in milliseconds.
    private static let age: Int64 = 36 * 3_600_000

    func finding() -> DoctorFinding {
        let action =
            "Start the timer assay-backup.timer, or run 'assay backup --verify FILE' daily; --backups names the folder."
        let manager = FileManager.default
        let newest: Date?
        do {
            newest = try manager.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".sqlite") }.compactMap {
                try manager.attributesOfItem(atPath: "\(folder)/\($0)")[.modificationDate] as? Date
            }.max()
        } catch {
            return .warning(.backups, "\(folder) cannot be read, so no backup is known", do: action)
        }
        guard let newest else { return .warning(.backups, "\(folder) has no backup", do: action) }
        let time = AppStoreTime(newest)
        let found = "the newest backup in \(folder) is of \(time)"
        return now.millisecondsSince1970 - time.millisecondsSince1970 > Self.age
            ? .warning(.backups, found, do: action) : .fine(.backups, found)
    }
}
