import Foundation
import PackagePlugin

/// Writes each file of a target's folders named `Resources` into the source code, as text, before each build.
///
/// SwiftPM's own `.embedInCode` writes a number for each byte, which takes the compiler 12 seconds for 60 kB.
@main
struct EmbedFiles: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        // Files that say the same stay as they are, so that nothing is compiled again.
        let script = """
            mkdir -p "$2"
            {
                printf '/// The files of the folders named Resources, byte for byte.\\nenum PackageResources {\\n'
                find "$1" -path '*/Resources/*' -type f ! -name '.*' | LC_ALL=C sort | while read -r file; do
                    name=$(basename "$file" | tr -c 'a-zA-Z0-9\\n' '_')
                    printf '    static let %s = [UInt8](###\"\"\"\\n' "$name"
                    cat "$file"
                    printf '\\n\"\"\"###.utf8)\\n'
                done
                printf '}\\n'
            } >"$2/.new"
            if cmp -s "$2/.new" "$2/PackageResources.swift"; then
                rm "$2/.new"
            else
                mv "$2/.new" "$2/PackageResources.swift"
            fi
            """
        let folder = context.pluginWorkDirectoryURL.appending(path: "PackageResources")
        return [
            .prebuildCommand(
                displayName: "Embed the files of Resources", executable: URL(fileURLWithPath: "/bin/sh"),
                arguments: ["-c", script, "sh", target.directoryURL.path, folder.path], outputFilesDirectory: folder)
        ]
    }
}
