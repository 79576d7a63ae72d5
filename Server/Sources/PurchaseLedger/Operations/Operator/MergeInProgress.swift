/// A write found a merge in progress that has to be finished first.
struct MergeInProgress: Error {}
