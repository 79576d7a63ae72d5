/// The refusal of a repair because a server wrote to the database after the rebuild was computed. Nothing was written.
public struct RepairOvertaken: Error, Sendable, Equatable, CustomStringConvertible {
    /// The table that grew, with both numbers of rows.
    let growth: String

    public var description: String {
        """
        repair_overtaken: a server wrote to the database during the rebuild (\(growth)), so nothing was repaired; stop the \
        server and run the command again
        """
    }
}
