import Foundation

/// A file that a user named for what is made.
enum OutputFile {
    /// Writes all of it or nothing, where there is a file or none. A device, a pipe or a link to a file is written to, and not replaced.
    static func write(_ data: Data, to path: String) throws {
        let url = URL(fileURLWithPath: path)
        guard FileManager.default.fileExists(atPath: path) else {
            return try data.write(to: url, options: .atomic)
        }
        let kind = try FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        guard kind != .typeRegular else { return try data.write(to: url, options: .atomic) }
        let file = try FileHandle(forWritingTo: url)
        do {
            try file.truncate(atOffset: 0)
        } catch {
            // A pipe or a device has no length.
        }
        try file.write(contentsOf: data)
        try file.close()
    }
}
