/** The categories that change how a transaction counts; with any other it is ordinary income or spending. */
export const TRANSACTION_CATEGORIES = {
  own_transfer:
    'Money moved between accounts of the same entity: neither income nor spending. Between two accounts on file it is found without the category.',
  loan_proceeds: 'Borrowed money that comes in: not income. On a debit the category has no effect.',
  loan_repayment: 'An instalment of an existing loan: spending, and also debt service. On a credit it has no effect.',
  refund:
    'A refund, a reversal or a chargeback. If the purchase is found, of the same amount within four days, and it is at least 2 % of what came in, both are neither income nor spending; otherwise the refund is income that does not recur. On a debit it has no effect.',
  returned_payment: 'A payment that bounced: neither income nor spending, but counted as a returned payment.',
} as const

/** A category that changes how a transaction counts. */
export type TransactionCategory = keyof typeof TRANSACTION_CATEGORIES

/** Other spellings of the categories, in lower case with underscores. */
export const CATEGORY_SPELLINGS: Record<TransactionCategory, readonly string[]> = {
  own_transfer: ['internal_transfer', 'transfer_between_own_accounts', 'savings_transfer'],
  loan_proceeds: ['loan_disbursement', 'loan_payout', 'cash_advance'],
  loan_repayment: [
    'loan_payment',
    'loan_instalment',
    'loan_instalments',
    'loan_installment',
    'loan_installments',
    'instalment',
    'instalments',
    'installment',
    'installments',
    'debt_repayment',
    'mortgage',
    'mortgage_payment',
  ],
  refund: ['refunds', 'reversal', 'chargeback', 'cashback_refund'],
  returned_payment: ['returned_debit', 'returned_direct_debit', 'payment_returned', 'bounced_payment', 'nsf'],
}
