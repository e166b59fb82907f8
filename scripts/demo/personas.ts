import type { ConsentPurpose, IdentifierType, VerificationStatus } from '../../server/src/core/vocabularies.ts'

/** A range of amounts in euro; a movement picks one for each month. Negative amounts are money out. */
type Range = readonly [from: number, to: number]

/** A movement on the account: the day of the month, what it is, the range of its amount, and how many months have one. */
export interface Movement {
  day: number
  category: string
  description: string
  amount: Range
  /** The probability that a month has it; 1 if it is left out. */
  chance?: number
}

/** A kind of applicant. The amounts are multiplied by the size of each applicant, which varies around one. */
export interface Persona {
  id: string
  type: 'person' | 'business' | 'institution'
  /** How many of the entities are of this kind, in proportion. */
  weight: number
  /** How often one applies again, in proportion. */
  returns: number
  product: string
  /** The range of the requested amount; left out for access without credit. */
  amount?: Range
  identifiers: readonly (readonly [IdentifierType, VerificationStatus])[]
  consents: readonly ConsentPurpose[]
  account?: { months: number; opening: Range; movements: readonly Movement[] }
  features?: { source: string; values: Readonly<Record<string, Range>> }
  /** What may happen after the money is paid out, or after access is given. */
  risk: { late: number; default: number; fraud?: number }
}

const spending: readonly Movement[] = [
  { day: 3, category: 'rent', description: 'Rent', amount: [-1150, -850] },
  { day: 7, category: 'groceries', description: 'Groceries', amount: [-260, -140] },
  { day: 12, category: 'utilities', description: 'Electricity and water', amount: [-170, -90] },
  { day: 16, category: 'groceries', description: 'Groceries', amount: [-240, -130] },
  { day: 21, category: 'leisure', description: 'Restaurants and leisure', amount: [-280, -60] },
  { day: 26, category: 'travel', description: 'Train tickets', amount: [-140, -30], chance: 0.6 },
]
const strong = [
  ['government_id', 'verified'],
  ['bank_account', 'verified'],
  ['email', 'verified'],
] as const
const registered = [
  ['registration_number', 'verified'],
  ['tax_id', 'verified'],
  ['bank_account', 'verified'],
] as const

/** The kinds of applicant of the sample organization. */
export const PERSONAS: readonly Persona[] = [
  {
    id: 'salaried',
    type: 'person',
    weight: 16,
    returns: 1.2,
    product: 'personal_loan',
    amount: [1500, 14000],
    identifiers: [...strong, ['phone', 'verified']],
    consents: ['credit_underwriting', 'transaction_analysis'],
    account: {
      months: 13,
      opening: [3500, 11000],
      movements: [{ day: 1, category: 'salary', description: 'Salary', amount: [2900, 3700] }, ...spending],
    },
    features: { source: 'bureau', values: { 'bureau.open_loans': [0, 2], 'bureau.years_on_file': [3, 18] } },
    risk: { late: 0.06, default: 0.012 },
  },
  {
    id: 'freelancer',
    type: 'person',
    weight: 9,
    returns: 1.6,
    product: 'personal_loan',
    amount: [1000, 9000],
    identifiers: [...strong, ['tax_id', 'verified']],
    consents: ['credit_underwriting'],
    account: {
      months: 13,
      opening: [1200, 4200],
      movements: [
        { day: 5, category: 'invoice', description: 'Invoice paid', amount: [700, 2600], chance: 0.9 },
        { day: 18, category: 'invoice', description: 'Invoice paid', amount: [500, 2400], chance: 0.75 },
        { day: 10, category: 'taxes', description: 'Advance tax', amount: [-420, -180], chance: 0.35 },
        ...spending,
      ],
    },
    risk: { late: 0.14, default: 0.03 },
  },
  {
    id: 'student',
    type: 'person',
    weight: 6,
    returns: 0.7,
    product: 'personal_loan',
    amount: [500, 3000],
    identifiers: [
      ['government_id', 'verified'],
      ['email', 'verified'],
    ],
    consents: ['credit_underwriting'],
    account: {
      months: 2,
      opening: [300, 900],
      movements: [
        { day: 2, category: 'salary', description: 'Part-time job', amount: [520, 900] },
        { day: 4, category: 'rent', description: 'Room in a shared flat', amount: [-460, -340] },
        { day: 14, category: 'groceries', description: 'Groceries', amount: [-190, -110] },
      ],
    },
    risk: { late: 0.1, default: 0.03 },
  },
  {
    id: 'overstretched',
    type: 'person',
    weight: 6,
    returns: 1.1,
    product: 'personal_loan',
    amount: [2000, 9000],
    identifiers: strong,
    consents: ['credit_underwriting'],
    account: {
      months: 12,
      opening: [200, 700],
      movements: [
        { day: 2, category: 'salary', description: 'Salary', amount: [1600, 1850] },
        { day: 9, category: 'loan_repayment', description: 'Instalment', amount: [-420, -320] },
        { day: 15, category: 'returned_payment', description: 'Returned direct debit', amount: [15, 60], chance: 0.3 },
        ...spending,
      ],
    },
    risk: { late: 0.35, default: 0.12 },
  },
  {
    id: 'unverified',
    type: 'person',
    weight: 4,
    returns: 0.6,
    product: 'personal_loan',
    amount: [1000, 6000],
    identifiers: [
      ['email', 'unverified'],
      ['phone', 'unverified'],
    ],
    consents: ['credit_underwriting'],
    account: {
      months: 12,
      opening: [4000, 9000],
      movements: [{ day: 1, category: 'salary', description: 'Salary', amount: [2600, 3300] }, ...spending],
    },
    risk: { late: 0.1, default: 0.03 },
  },
  {
    id: 'seller',
    type: 'person',
    weight: 8,
    returns: 2.4,
    product: 'marketplace_access',
    identifiers: [
      ['government_id', 'verified'],
      ['email', 'verified'],
      ['device', 'unverified'],
    ],
    consents: ['credit_underwriting', 'identity_verification'],
    account: {
      months: 8,
      opening: [900, 2600],
      movements: [
        { day: 6, category: 'sales', description: 'Marketplace payout', amount: [500, 1900] },
        { day: 20, category: 'sales', description: 'Marketplace payout', amount: [450, 1700] },
        ...spending,
      ],
    },
    risk: { late: 0, default: 0, fraud: 0.02 },
  },
  {
    id: 'shop',
    type: 'business',
    weight: 11,
    returns: 6,
    product: 'business_credit_line',
    amount: [3000, 26000],
    identifiers: registered,
    consents: ['credit_underwriting', 'transaction_analysis', 'data_sharing'],
    account: {
      months: 13,
      opening: [9000, 32000],
      movements: [
        { day: 4, category: 'sales', description: 'Card settlements', amount: [4200, 7400] },
        { day: 13, category: 'sales', description: 'Card settlements', amount: [4600, 7800] },
        { day: 24, category: 'sales', description: 'Card settlements', amount: [4300, 8600] },
        { day: 2, category: 'rent', description: 'Rent of the shop', amount: [-2600, -1900] },
        { day: 10, category: 'suppliers', description: 'Suppliers', amount: [-6200, -3900] },
        { day: 27, category: 'wages', description: 'Wages', amount: [-6100, -4700] },
        { day: 15, category: 'taxes', description: 'VAT', amount: [-1300, -500] },
      ],
    },
    features: { source: 'registry', values: { years_in_business: [2, 31], employees: [2, 24] } },
    risk: { late: 0.07, default: 0.01 },
  },
  {
    id: 'workshop',
    type: 'business',
    weight: 6,
    returns: 5,
    product: 'business_credit_line',
    amount: [8000, 60000],
    identifiers: registered,
    consents: ['credit_underwriting'],
    account: {
      months: 13,
      opening: [2500, 9000],
      movements: [
        { day: 8, category: 'sales', description: 'Invoices paid', amount: [5200, 12800] },
        { day: 22, category: 'sales', description: 'Invoices paid', amount: [3800, 10400], chance: 0.8 },
        { day: 2, category: 'rent', description: 'Rent of the workshop', amount: [-2300, -1700] },
        { day: 11, category: 'suppliers', description: 'Material', amount: [-5200, -2500] },
        { day: 27, category: 'wages', description: 'Wages', amount: [-6400, -4600] },
        { day: 19, category: 'loan_repayment', description: 'Machine lease', amount: [-780, -520] },
      ],
    },
    features: { source: 'registry', values: { years_in_business: [1, 22], employees: [1, 14] } },
    risk: { late: 0.12, default: 0.025 },
  },
  {
    id: 'start-up',
    type: 'business',
    weight: 4,
    returns: 2,
    product: 'business_credit_line',
    amount: [10000, 50000],
    identifiers: [
      ['registration_number', 'verified'],
      ['email', 'verified'],
    ],
    consents: ['credit_underwriting'],
    account: {
      months: 2,
      opening: [22000, 70000],
      movements: [
        { day: 9, category: 'sales', description: 'First customers', amount: [600, 3900] },
        { day: 27, category: 'wages', description: 'Wages', amount: [-9200, -6100] },
        { day: 14, category: 'software', description: 'Software', amount: [-900, -300] },
      ],
    },
    risk: { late: 0.1, default: 0.04 },
  },
  {
    id: 'no-consent',
    type: 'business',
    weight: 3,
    returns: 2,
    product: 'business_credit_line',
    amount: [3000, 15000],
    identifiers: registered,
    consents: [],
    account: {
      months: 12,
      opening: [14000, 30000],
      movements: [
        { day: 5, category: 'sales', description: 'Sales', amount: [9000, 13000] },
        { day: 18, category: 'suppliers', description: 'Suppliers', amount: [-6000, -4200] },
        { day: 27, category: 'wages', description: 'Wages', amount: [-2900, -2300] },
      ],
    },
    risk: { late: 0.05, default: 0.01 },
  },
  {
    id: 'institution',
    type: 'institution',
    weight: 4,
    returns: 3,
    product: 'supplier_account',
    amount: [15000, 90000],
    identifiers: registered,
    consents: ['credit_underwriting', 'data_sharing'],
    account: {
      months: 13,
      opening: [120000, 260000],
      movements: [
        { day: 1, category: 'grants', description: 'Monthly funding', amount: [52000, 61000] },
        { day: 15, category: 'fees', description: 'Fees received', amount: [9000, 16000] },
        { day: 27, category: 'wages', description: 'Wages', amount: [-44000, -36000] },
        { day: 9, category: 'suppliers', description: 'Suppliers', amount: [-16000, -9000] },
        { day: 20, category: 'utilities', description: 'Buildings', amount: [-6500, -4200] },
      ],
    },
    features: { source: 'registry', values: { years_in_operation: [8, 90] } },
    risk: { late: 0.03, default: 0 },
  },
]
