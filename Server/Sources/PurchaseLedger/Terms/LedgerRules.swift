// The rules and their terms are declared in a module of their own, and used as if they were declared here: who imports
// PurchaseLedger has them.
@_exported public import LedgerRules
