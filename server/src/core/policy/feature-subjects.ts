/** What a feature that a lender sends may describe, besides a prohibited basis. */
const FINANCIAL_SUBJECTS = [
  'income',
  'spending',
  'debt',
  'assets',
  'payment_history',
  'credit_file',
  'employment',
  'housing',
  'household',
  'business',
  'identity',
  'fraud',
  'relationship',
  'behaviour',
  'model_output',
  'other',
] as const

/** Attributes of a person that the law of some jurisdiction does not let a lender decide by. */
export const PERSONAL_BASES = [
  'age',
  'sex',
  'race',
  'religion',
  'national_origin',
  'marital_status',
  'pregnancy',
  'disability',
  'sexual_orientation',
  'health',
  'political_opinion',
  'trade_union',
  'public_assistance',
] as const

/** An attribute of a person that a policy may have to leave out. */
export type PersonalBasis = (typeof PERSONAL_BASES)[number]

/** What an input can describe. */
export const FEATURE_SUBJECTS = [...FINANCIAL_SUBJECTS, ...PERSONAL_BASES] as const

/** Refused everywhere. Age is refused only where it counts against the old. */
const EVERYWHERE = ['sex', 'race', 'religion'] as const satisfies readonly PersonalBasis[]

/** What the law of a jurisdiction lists besides. */
const LISTED_BY = {
  // 15 U.S.C. 1691(a), 12 CFR 1002.2(z).
  us: ['national_origin', 'marital_status', 'public_assistance'],
  // Directive (EU) 2023/2225, articles 6 and 18(3); GDPR, article 9(1); Charter of Fundamental Rights, article 21.
  eu: ['national_origin', 'disability', 'sexual_orientation', 'health', 'political_opinion', 'trade_union'],
  // Equality Act 2010, sections 4 and 29.
  uk: ['national_origin', 'marital_status', 'pregnancy', 'disability', 'sexual_orientation'],
} as const satisfies Record<string, readonly PersonalBasis[]>

/** The jurisdictions whose lists are known. */
export const JURISDICTIONS = Object.keys(LISTED_BY) as (keyof typeof LISTED_BY)[]

/** Where a policy decides. */
export type Jurisdiction = keyof typeof LISTED_BY

/** The bases that a policy may not read; without a jurisdiction those of all of them. */
export function prohibitedIn(jurisdiction: Jurisdiction | undefined): ReadonlySet<string> {
  const listed = jurisdiction === undefined ? Object.values(LISTED_BY).flat() : LISTED_BY[jurisdiction]
  return new Set<string>([...EVERYWHERE, ...listed])
}

/** An elderly applicant, by 12 CFR 1002.2(o). */
export const ELDERLY = 62

/** Words by which the name of a feature gives away what it describes. */
const WORDS: Readonly<Record<string, PersonalBasis>> = {
  age: 'age',
  birth: 'age',
  birthdate: 'age',
  birthday: 'age',
  dob: 'age',
  sex: 'sex',
  gender: 'sex',
  race: 'race',
  ethnicity: 'race',
  ethnic: 'race',
  skin: 'race',
  religion: 'religion',
  nationality: 'national_origin',
  birthplace: 'national_origin',
  marital: 'marital_status',
  married: 'marital_status',
  pregnant: 'pregnancy',
  pregnancy: 'pregnancy',
  disability: 'disability',
  disabled: 'disability',
  orientation: 'sexual_orientation',
  health: 'health',
  union: 'trade_union',
  welfare: 'public_assistance',
}

/** The basis that the name of a feature speaks of; undefined for most names. */
export function basisInName(feature: string): PersonalBasis | undefined {
  return feature
    .split(/[._]/)
    .map((word) => (Object.hasOwn(WORDS, word) ? WORDS[word] : undefined))
    .find((basis) => basis !== undefined)
}
