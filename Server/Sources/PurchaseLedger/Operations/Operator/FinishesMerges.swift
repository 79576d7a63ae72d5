/// An operation that reads the rows of customers by key without regard to a merge in progress. The merge is finished
/// first.
protocol FinishesMerges: LedgerOperation {}

extension MergeCustomers: FinishesMerges {}
extension EraseCustomer: FinishesMerges {}
extension MovePurchase: FinishesMerges {}
extension GrantByHand: FinishesMerges {}
extension RevokeByHand: FinishesMerges {}
extension LiftByHand: FinishesMerges {}
