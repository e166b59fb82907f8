import { holds, type Permission } from '../admin/permissions.ts'
import type { Operator } from '../store/control/operators.ts'

/** What operations say of applicants that not every role sees. */
export type PersonalData = 'names' | 'identifiers' | 'transactions' | 'text'

/** The permission that shows each kind of it. */
const SHOWN_BY: Record<PersonalData, Permission> = {
  names: 'see names',
  identifiers: 'see identifiers',
  transactions: 'see transactions',
  text: 'see free text',
}

/** A member of an output: a path from its root, in which `*` stands for every element; `where` looks at the object that has it. */
export type PersonalField = string | { path: string; where: (owner: Readonly<Record<string, unknown>>) => boolean }

/** The personal members of an output, by kind. */
export type PersonalFields = Partial<Record<PersonalData, readonly PersonalField[]>>

/** What stands where a text is not shown. */
export const NOT_VISIBLE = 'not visible to your role'

/**
 * The output of an operation as an operator may see it: the one place that hides personal data from roles. A name becomes the id
 * that the organization gave, or ours; texts say that they are hidden; transactions become null, and lists of them empty.
 */
export function project(output: unknown, personal: PersonalFields, operator: Pick<Operator, 'role'>): unknown {
  const hidden = (Object.keys(personal) as PersonalData[]).filter((kind) => !holds(operator, SHOWN_BY[kind]))
  return hidden.reduce(
    (shown, kind) => personal[kind]!.reduce<unknown>((value, field) => hide(value, fieldOf(field), kind), shown),
    output,
  )
}

/** Whether an operator sees a kind of personal data, for operations that search by it. */
export function sees(operator: Pick<Operator, 'role'>, kind: PersonalData): boolean {
  return holds(operator, SHOWN_BY[kind])
}

interface Field {
  steps: readonly string[]
  where: (owner: Readonly<Record<string, unknown>>) => boolean
}

function fieldOf(field: PersonalField): Field {
  const { path, where } = typeof field === 'string' ? { path: field, where: () => true } : field
  return { steps: path.split('.'), where }
}

function hide(value: unknown, { steps, where }: Field, kind: PersonalData): unknown {
  const [step, ...rest] = steps
  if (Array.isArray(value)) return step === '*' ? value.map((each) => hide(each, { steps: rest, where }, kind)) : value
  if (typeof value !== 'object' || value === null) return value
  const owner = value as Record<string, unknown>
  if (step === '*')
    return Object.fromEntries(
      Object.entries(owner).map(([key, each]) => [key, hide(each, { steps: rest, where }, kind)]),
    )
  if (!(step! in owner)) return value
  const inner = owner[step!]
  if (rest.length > 0) return { ...owner, [step!]: hide(inner, { steps: rest, where }, kind) }
  return where(owner) ? { ...owner, [step!]: hiddenValue(inner, owner, kind) } : value
}

function hiddenValue(value: unknown, owner: Readonly<Record<string, unknown>>, kind: PersonalData): unknown {
  if (value === null || value === undefined) return value
  if (kind === 'transactions') return Array.isArray(value) ? [] : null
  if (kind === 'names') return owner.external_id ?? owner.entity_id ?? owner.id ?? NOT_VISIBLE
  return withoutTexts(value)
}

/** The value with every text in it hidden; its shape, its numbers and its flags stay. */
function withoutTexts(value: unknown): unknown {
  if (typeof value === 'string') return NOT_VISIBLE
  if (Array.isArray(value)) return value.map(withoutTexts)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutTexts(each)]))
}
