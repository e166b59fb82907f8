import { Type } from 'typebox'
import { PRODUCT_KINDS } from '../vocabularies.ts'
import { Closed, Code, TierName } from './document-fields.ts'

const TermMonths = Type.Integer({ minimum: 1, maximum: 600 })
const AnnualRate = Type.Number({ minimum: 0, description: '0.12 is twelve percent.' })

const Product = Closed(
  {
    product: Code,
    kind: Type.Optional(
      Type.Enum([...PRODUCT_KINDS], {
        description:
          '`credit`, which is also what a product without a kind is: a request needs an amount, and the product a term and a rate. `access`: a request has no amount, and the product no other field.',
      }),
    ),
    term_months: Type.Optional(TermMonths),
    term_choices: Type.Optional(
      Type.Array(TermMonths, {
        minItems: 1,
        maxItems: 60,
        uniqueItems: true,
        description:
          'The terms that an applicant may choose, as `term_months` of the request, besides the one that counts without a choice.',
      }),
    ),
    annual_rate: Type.Optional(AnnualRate),
    rates: Type.Optional(
      Type.Array(
        Closed({
          tier: TierName,
          from: Type.Optional(
            Type.Number({
              exclusiveMinimum: 0,
              description: 'Amounts from this one on, in the reference currency; without it, all of them.',
            }),
          ),
          annual_rate: AnnualRate,
        }),
        {
          minItems: 1,
          maxItems: 200,
          description:
            'The price by tier and amount. The request is measured at `annual_rate`, which also is the price of a tier or an amount that is not listed.',
        },
      ),
    ),
    fee_rate: Type.Optional(
      Type.Number({ minimum: 0, description: 'A fee as a share of the amount, repaid with it: 0.02 is two percent.' }),
    ),
    fee_amount: Type.Optional(
      Type.Number({ minimum: 0, description: 'A fixed fee in the reference currency, repaid with the amount.' }),
    ),
    minimum: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, description: 'The smallest amount offered, in the reference currency.' }),
    ),
    maximum: Type.Optional(
      Type.Number({ exclusiveMinimum: 0, description: 'The largest amount offered, in the reference currency.' }),
    ),
  },
  'A product: credit with its terms, or access without credit.',
)

/** The schema of the products of a policy. */
export const Products = Type.Array(Product, {
  minItems: 1,
  description: 'One of them is `default`, whose kind and terms every other product has.',
})
