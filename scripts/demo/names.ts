/**
 * Names of the sample organization. All are invented: family names are plants, winds and stones, so that they read as names
 * of their country and belong to no customer of a real lender.
 */

/** A country of the sample: its currency, what one euro costs in it, and its names. */
export interface Country {
  code: string
  currency: string
  perEuro: number
  /** How many of the entities come from here, in proportion. */
  weight: number
  given: readonly string[]
  family: readonly string[]
  /** What a business is called, with `*` for a family name. */
  businesses: readonly string[]
  institutions: readonly string[]
}

/** The countries of the sample. */
export const COUNTRIES: readonly Country[] = [
  {
    code: 'DE',
    currency: 'EUR',
    perEuro: 1,
    weight: 8,
    given: ['Ada', 'Jonas', 'Leni', 'Karim', 'Mira', 'Oskar', 'Paula', 'Theo', 'Yara', 'Emil', 'Frieda', 'Levin'],
    family: [
      'Windhaber',
      'Kieselstein',
      'Sternmoos',
      'Morgentau',
      'Lindenblatt',
      'Nebelhorn',
      'Haselwurz',
      'Silberdistel',
    ],
    businesses: ['Bäckerei *', '* Fahrräder GmbH', 'Tischlerei *', 'Café *', '* Gartenbau GmbH', 'Buchhandlung *'],
    institutions: ['Stadtwerke *', 'Volkshochschule *', 'Wohnungsgenossenschaft * eG'],
  },
  {
    code: 'FR',
    currency: 'EUR',
    perEuro: 1,
    weight: 4,
    given: ['Amélie', 'Bastien', 'Camille', 'Inès', 'Lucien', 'Maëlle', 'Noé', 'Solène'],
    family: ['Clairvent', 'Boisfleuri', 'Roquepierre', 'Primevère', 'Belle-Étoile', 'Sablegris'],
    businesses: ['Boulangerie *', 'Atelier *', 'Librairie *', '* Vélos SARL', 'Fromagerie *'],
    institutions: ['Lycée *', 'Clinique *', 'Fondation *'],
  },
  {
    code: 'GB',
    currency: 'GBP',
    perEuro: 1,
    weight: 4,
    given: ['Alfie', 'Beatrix', 'Callum', 'Edith', 'Imran', 'Maisie', 'Oliver', 'Zadie'],
    family: ['Thistledown', 'Foxglove', 'Hazelbrook', 'Pebblewick', 'Larkmoor', 'Westerwind'],
    businesses: ['* Bicycles Ltd', '* & Daughters Joinery', 'The * Tearoom', '* Print Works Ltd', '* Kitchens Ltd'],
    institutions: ['* Housing Association', '* Community College', 'St * Hospice'],
  },
  {
    code: 'US',
    currency: 'USD',
    perEuro: 1,
    weight: 4,
    given: ['Avery', 'Dakota', 'Elena', 'Jamal', 'Marisol', 'Riley', 'Sawyer', 'Wren'],
    family: ['Maplestone', 'Juniperhill', 'Coppercreek', 'Sagebrush', 'Tallgrass', 'Bluepine'],
    businesses: ['* Roasters LLC', '* Auto Repair', '* Outfitters Inc', '* Landscaping LLC', '* Family Dental'],
    institutions: ['* Credit Cooperative', '* Public Library', '* Charter School'],
  },
  {
    code: 'ES',
    currency: 'EUR',
    perEuro: 1,
    weight: 3,
    given: ['Alba', 'Bruno', 'Carmen', 'Iker', 'Lucía', 'Mateo', 'Nerea', 'Vega'],
    family: ['Romeroviento', 'Piedraluna', 'Almendral', 'Brisamar', 'Retamar'],
    businesses: ['Panadería *', 'Talleres * SL', 'Bodegas * SL', 'Óptica *'],
    institutions: ['Fundación *', 'Instituto *'],
  },
  {
    code: 'PL',
    currency: 'PLN',
    perEuro: 4,
    weight: 2,
    given: ['Aniela', 'Borys', 'Hania', 'Iwo', 'Kaja', 'Leon', 'Pola', 'Ryszard'],
    family: ['Wiatrolist', 'Kamyczek', 'Mglisty', 'Jarzębina', 'Rosalski'],
    businesses: ['Piekarnia *', '* Meble sp. z o.o.', 'Warsztat *'],
    institutions: ['Spółdzielnia *', 'Biblioteka *'],
  },
  {
    code: 'CH',
    currency: 'CHF',
    perEuro: 1,
    weight: 2,
    given: ['Andri', 'Flurina', 'Gian', 'Ladina', 'Reto', 'Seraina'],
    family: ['Arvenholz', 'Gletschermilch', 'Enzian', 'Steinwurz', 'Föhnwind'],
    businesses: ['Confiserie *', '* Sport AG', 'Schreinerei *'],
    institutions: ['Stiftung *', 'Kantonsschule *'],
  },
]

/** The people of the sample team; none is owner or admin, so that no sample operator can act for the organization. */
export const TEAM = [
  { name: 'Ines Sample', email: 'ines@sample.example', role: 'reviewer' },
  { name: 'Marek Sample', email: 'marek@sample.example', role: 'reviewer' },
  { name: 'Noor Sample', email: 'noor@sample.example', role: 'reviewer' },
  { name: 'Otto Sample', email: 'otto@sample.example', role: 'policy_author' },
  { name: 'Priya Sample', email: 'priya@sample.example', role: 'policy_approver' },
  { name: 'Dana Sample', email: 'dana@sample.example', role: 'developer' },
  { name: 'Vito Sample', email: 'vito@sample.example', role: 'viewer' },
] as const

/** What reviewers write when they approve with a condition. */
export const CONDITIONAL_APPROVALS = [
  {
    reason: 'Half of the amount is fine; the rest after six months of statements.',
    condition: { code: 'statements_after_six_months', label: 'Statements of six months before the rest is paid out' },
  },
  {
    reason: 'A guarantor signs, then the full amount.',
    condition: { code: 'guarantee', label: 'A guarantor signs' },
  },
  {
    reason: 'New statement before the payout.',
    condition: { code: 'new_statement', label: 'A statement of the last 30 days before the payout' },
  },
] as const

/** What reviewers write when they approve without one, or decline. */
export const REVIEW_REASONS = {
  approve: [
    'Payslips of three months seen; income is as stated.',
    'The linked party moved out a year ago; registry extract on file.',
    'Accounts of the last two years seen, signed by the accountant.',
    'Identity confirmed in a video call.',
  ],
  decline: [
    'Income could not be confirmed; asked twice.',
    'The shared account belongs to the party that defaulted.',
    'Documents do not match the registry.',
    'Too little history for this amount; may apply again in three months.',
  ],
} as const
