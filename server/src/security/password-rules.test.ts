import assert from 'node:assert/strict'
import { test } from 'node:test'
import { passwordFault } from './password-rules.ts'

const ada = { email: 'ada.lovelace@example.com' }

test('passwords that attackers generate are refused', () => {
  const refused = [
    'short words',
    'x'.repeat(129),
    'aaaaaaaaaaaa',
    'abababababab',
    '123456789012',
    '739184625530',
    'qwertyuiop123',
    'qwertyuiopasdfghjkl',
    '1q2w3e4r5t6y',
    'zaq12wsxcde3',
    'passwordpassword',
    'Password1234!',
    'P@ssw0rd2026!!',
    'iloveyouforever',
    'Welcome12345!',
    'Summer2026!!!',
    'adminadmin123',
    'changemechangeme',
    'verdigraph2026',
    'letmeinletmein1',
    'ada.lovelace@example.com',
    'Ada.Lovelace1815',
    'ada.lovelace@',
    'correct horse battery staple',
    'CorrectHorseBatteryStaple',
    'c0rrect-h0rse-battery-st4ple',
  ]
  for (const password of refused) assert.ok(passwordFault(password, ada), password)
})

test('long passwords of own words or of chance are accepted', () => {
  const accepted = [
    'a quiet green ledger 42',
    'nordwind-bakery-oven',
    'x7#Kp0q9!vLw2z',
    'Gänseblümchen im Regen',
    'bqkzjwvmtrnh',
    '密码密码不容易猜到的句子一二',
  ]
  for (const password of accepted) assert.equal(passwordFault(password, ada), undefined, password)
})
