import Foundation

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
