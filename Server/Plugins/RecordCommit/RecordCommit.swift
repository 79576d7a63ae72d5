import Foundation
import PackagePlugin

/// Writes the commit that is being built, and its date, into a source file, before each build (docs/decisions.md, 42).
@main
struct RecordCommit: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        // A file that says the same stays as it is, so that nothing is compiled again.
        let script = """
            commit=$(git -C "$1" rev-parse --short=12 HEAD 2>/dev/null) || commit=unknown
            date=$(git -C "$1" show -s --format=%cs HEAD 2>/dev/null) || date=
            if [ "$commit" != unknown ] && [ -n "$(git -C "$1" --no-optional-locks status --porcelain 2>/dev/null)" ]; then
                commit=$commit-modified
            fi
            mkdir -p "$2"
            printf 'let recordedCommit = "%s"\\nlet recordedDate = "%s"\\n' "$commit" "$date" >"$2/.new"
            if cmp -s "$2/.new" "$2/Commit.swift"; then rm "$2/.new"; else mv "$2/.new" "$2/Commit.swift"; fi
            """
        let folder = context.pluginWorkDirectoryURL.appending(path: "Commit")
        return [
            .prebuildCommand(
                displayName: "Record the commit", executable: URL(fileURLWithPath: "/bin/sh"),
                arguments: ["-c", script, "sh", context.package.directoryURL.path, folder.path],
                outputFilesDirectory: folder)
        ]
    }
}
