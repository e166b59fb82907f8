import { draftCalibration, readCalibration, watchCalibration } from '../../admin/calibrate-policy.ts'
import { findPolicy } from '../../admin/find-policy.ts'
import { Strict } from '../../core/schema/fields.ts'
import { Type } from '../../core/schema/type.ts'
import { defineOperation } from '../define-operation.ts'

const version = Type.String({ minLength: 1, maxLength: 200 })

/** What a version expects against what was observed. */
const showPolicyCalibration = defineOperation({
  summary: 'What the probabilities of a version say against what was observed, by score',
  access: 'see the console',
  input: Strict({ version }),
  audit: [],
  async handle({ installation, act, input }) {
    return readCalibration(installation, act, await findPolicy(installation, act, input.version))
  },
})

/** Whether the active version has parted from what is observed. */
const watchPolicyCalibration = defineOperation({
  summary: 'Whether what the active version expects has parted from what is observed; null if too little is known',
  access: 'see the console',
  input: Strict({}),
  audit: [],
  async handle({ installation, act }) {
    const report = await watchCalibration(installation, act)
    if (report === null) return { active: null }
    const { version: of, expected, observed, has_parted } = report
    return { active: { version: of, expected, observed, has_parted } }
  },
})

/** The text of a version whose probabilities are fitted to what was observed, for the editor. */
const draftPolicyCalibration = defineOperation({
  summary: 'Write the text of a version with probabilities that are fitted to what was observed; nothing is kept',
  access: draftCalibration.permission,
  input: Strict({ version }),
  audit: [],
  async handle({ installation, act, input }) {
    const { source } = await draftCalibration(installation, act, { version: input.version })
    return { source }
  },
})

/** The operations `policy-calibration.<verb>`. */
export const policyCalibration = {
  show: showPolicyCalibration,
  watch: watchPolicyCalibration,
  draft: draftPolicyCalibration,
}
