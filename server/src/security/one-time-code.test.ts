import assert from 'node:assert/strict'
import { test } from 'node:test'
import { codeStep, enrolmentUri, generateCodeSecret, matchingStep, oneTimeCode } from './one-time-code.ts'

/** The secret of the test vectors, the ASCII text 12345678901234567890, in base32. */
const RFC_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

test('codes are those of RFC 6238, appendix B, for SHA-1', () => {
  // The RFC prints eight digits; six-digit codes are their last six, because both are remainders of one number.
  for (const [seconds, code] of [
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ] as const)
    assert.equal(oneTimeCode(RFC_SECRET, codeStep(seconds * 1_000)), code.slice(-6))
})

test('a code is accepted in its step and the steps beside it, and never again after it was used', () => {
  const nowMs = 1_800_000_000_000
  const step = codeStep(nowMs)
  const accepted = (code: string, afterStep = 0) => matchingStep(RFC_SECRET, code, { nowMs, afterStep })
  for (const near of [step - 1, step, step + 1]) assert.equal(accepted(oneTimeCode(RFC_SECRET, near)), near)
  for (const far of [step - 2, step + 2, step - 1_000]) assert.equal(accepted(oneTimeCode(RFC_SECRET, far)), undefined)
  assert.equal(accepted(oneTimeCode(RFC_SECRET, step), step), undefined, 'the code that was used')
  assert.equal(accepted(oneTimeCode(RFC_SECRET, step - 1), step), undefined, 'an older code')
  for (const code of ['', '1', '1234567', 'abcdef', '12345\u0661', oneTimeCode(generateCodeSecret(), step)])
    assert.equal(accepted(code), undefined, code)
})

test('a secret is 160 random bits in base32, and apps read it from the URI', () => {
  const secret = generateCodeSecret()
  assert.match(secret, /^[A-Z2-7]{32}$/)
  assert.notEqual(secret, generateCodeSecret())
  assert.equal(
    enrolmentUri(secret, 'ada@example.com'),
    `otpauth://totp/Verdigraph:ada%40example.com?secret=${secret}&issuer=Verdigraph`,
  )
})
