import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PLAID_CATEGORIES, recognizeCategory } from './recognize-category.ts'
import { TRANSACTION_CATEGORIES } from './transaction-categories.ts'

test('every spelling of a category is that category', () => {
  for (const text of ['loan_repayment', 'Loan Repayment', 'loan-repayment', 'loanRepayment', ' LOAN  REPAYMENT '])
    assert.equal(recognizeCategory(text), 'loan_repayment', text)
  for (const name of Object.keys(TRANSACTION_CATEGORIES)) assert.equal(recognizeCategory(name), name)
})

test('a category of Plaid is read as ours, and a detailed one that is not listed as its primary category', () => {
  for (const [name, category] of Object.entries(PLAID_CATEGORIES)) assert.equal(recognizeCategory(name), category, name)
  for (const [name, category] of [
    ['LOAN_PAYMENTS_MORTGAGE_PAYMENT', 'loan_repayment'],
    ['LOAN_PAYMENTS_CREDIT_CARD_PAYMENT', 'ordinary'],
    ['INCOME_WAGES', 'ordinary'],
    ['TRANSFER_OUT_ACCOUNT_TRANSFER', 'ordinary'],
    ['Transfer In Account Transfer', 'own_transfer'],
    ['BANK_FEES_OVERDRAFT_FEES', 'ordinary'],
  ] as const)
    assert.equal(recognizeCategory(name), category, name)
})

test('any other text is not recognized', () => {
  for (const text of ['', '---', 'loan', 'loan_repayment_late', 'rent_deposit', '7995', 'constructor', 'Kredit'])
    assert.equal(recognizeCategory(text), undefined, text)
})
