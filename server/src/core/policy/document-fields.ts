import { type TProperties, Type } from 'typebox'

/** An object that has these fields and no others. */
export const Closed = <Properties extends TProperties>(properties: Properties, description?: string) =>
  Type.Object(properties, { additionalProperties: false, ...(description && { description }) })

/** A name for machines. */
export const Code = Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$', description: 'A machine-readable code.' })
/** A text for people. */
export const Label = Type.String({ minLength: 1, maxLength: 200, description: 'A text for people.' })
/** A code and what it says. */
export const Explanation = Closed({ code: Code, label: Label })

/** An expression in CEL. */
export const Expression = (description: string) => Type.String({ minLength: 1, maxLength: 1000, description })

/** The name of a tier. */
export const TierName = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9 +._-]{0,31}$',
  description: 'The name of the tier: letters, digits, spaces and `+ - . _`.',
})
