/// The source of the program.
public enum BuildInformation {
    /// The first twelve digits of the commit, followed by `-modified` if there were changes that no commit has;
    /// `unknown` where the sources were not in a git repository. The plugin RecordCommit writes it before each build.
    public static var commit: String { recordedCommit }
    /// The date of the commit, such as `2026-11-24`; empty where the sources were not in a git repository.
    public static var date: String { recordedDate }
}
