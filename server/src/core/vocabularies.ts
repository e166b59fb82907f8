/** The verdicts of a policy. */
export const VERDICTS = ['approve', 'approve_with_conditions', 'manual_review', 'decline'] as const
/** A verdict of a policy. */
export type Verdict = (typeof VERDICTS)[number]

/** The verdicts of a reviewer, who cannot pass the case on to a review. */
export const REVIEW_VERDICTS = ['approve', 'approve_with_conditions', 'decline'] as const satisfies readonly Verdict[]

/** Whether a reason counts for or against the applicant. */
export const IMPACTS = ['positive', 'negative'] as const
/** Whether a reason counts for or against the applicant. */
export type Impact = (typeof IMPACTS)[number]

/** The kinds of entity. */
export const ENTITY_TYPES = ['person', 'business', 'institution'] as const

/** What can happen after a decision. */
export const OUTCOME_TYPES = [
  'funded',
  'current',
  'late',
  'default',
  'charged_off',
  'repaid',
  'settled',
  'fraud_confirmed',
  'access_abused',
  'closed',
] as const
/** One kind of outcome. */
export type OutcomeType = (typeof OUTCOME_TYPES)[number]

/** The kinds of identifier that an entity can have. */
export const IDENTIFIER_TYPES = [
  'government_id',
  'tax_id',
  'registration_number',
  'bank_account',
  'email',
  'phone',
  'device',
  'address',
] as const
/** One kind of identifier. */
export type IdentifierType = (typeof IDENTIFIER_TYPES)[number]

/** How an entity can be related to another. */
export const RELATIONSHIPS = [
  'same_as',
  'owner',
  'director',
  'guarantor',
  'employer',
  'household',
  'business_partner',
] as const
/** One kind of relationship. */
export type Relationship = (typeof RELATIONSHIPS)[number]

/** The possible results of checking an identifier or a relationship. */
export const VERIFICATION_STATUSES = ['verified', 'unverified', 'failed'] as const
/** The result of checking an identifier or a relationship; `unverified` means that it was not checked. */
export type VerificationStatus = (typeof VERIFICATION_STATUSES)[number]

/** The purposes that an entity can consent to. */
export const CONSENT_PURPOSES = [
  'credit_underwriting',
  'identity_verification',
  'transaction_analysis',
  'data_sharing',
  'marketing',
] as const
/** A purpose that an entity can consent to. */
export type ConsentPurpose = (typeof CONSENT_PURPOSES)[number]

/** What a recorded consent can say about its purpose. */
export const CONSENT_STATUSES = ['granted', 'revoked'] as const
/** What a recorded consent says about its purpose. */
export type ConsentStatus = (typeof CONSENT_STATUSES)[number]

/** The categories of data that a consent can cover. */
export const DATA_CATEGORIES = ['identity', 'transactions', 'features', 'graph'] as const
/** A category of data that a consent can cover. */
export type DataCategory = (typeof DATA_CATEGORIES)[number]

/** The directions of a transaction, seen from the entity's account. */
export const TRANSACTION_DIRECTIONS = ['credit', 'debit'] as const
/** The direction of a transaction, seen from the entity's account. */
export type TransactionDirection = (typeof TRANSACTION_DIRECTIONS)[number]

/** The kinds of accounts that transactions can name. */
export const ACCOUNT_KINDS = ['current', 'savings', 'card', 'loan'] as const
/** The kind of an account: current and savings accounts hold money, cards and loans hold what is owed. */
export type AccountKind = (typeof ACCOUNT_KINDS)[number]

/** The two balances that a statement gives for a day: before its first transaction, and after its last. */
export const BALANCE_KINDS = ['opening', 'closing'] as const
/** Which balance of a day a statement gives. */
export type BalanceKind = (typeof BALANCE_KINDS)[number]

/** Where data about an entity can come from. */
export const SOURCE_KINDS = ['bank', 'aggregator', 'applicant', 'own_records', 'credit_bureau', 'other'] as const
/** Where data about an entity comes from. */
export type SourceKind = (typeof SOURCE_KINDS)[number]

/** The types that the value of a feature can have. */
export const FEATURE_TYPES = ['number', 'string', 'boolean'] as const
/** The type of a feature's value. */
export type FeatureType = (typeof FEATURE_TYPES)[number]

/** What a product gives: money that is repaid, or access without credit. */
export const PRODUCT_KINDS = ['credit', 'access'] as const
/** What one product gives. */
export type ProductKind = (typeof PRODUCT_KINDS)[number]

/** The two halves of an installation; they share neither data nor keys. */
export const ENVIRONMENTS = ['sandbox', 'production'] as const
/** One half of an installation. */
export type Environment = (typeof ENVIRONMENTS)[number]

/** The roles of operators, most powerful first. */
export const OPERATOR_ROLES = [
  'owner',
  'admin',
  'policy_author',
  'policy_approver',
  'reviewer',
  'developer',
  'viewer',
] as const
/** The role of an operator. */
export type OperatorRole = (typeof OPERATOR_ROLES)[number]

/** How a person writes numbers: the sign between groups of digits, then the decimal sign. `indian` groups by lakh and crore. */
export const NUMBER_NOTATIONS = ['comma_point', 'point_comma', 'space_comma', 'apostrophe_point', 'indian'] as const
/** One way to write numbers. */
export type NumberNotation = (typeof NUMBER_NOTATIONS)[number]
