/** What a person at the command line can do about a problem, by its code. */
export const HINTS: Readonly<Record<string, string>> = {
  answer_lost: 'Check whether the command took effect before you repeat it.',
  changed_meanwhile: 'Look at its state and try again.',
  key_not_found: 'Run keys list to see the keys.',
  key_revoked: 'Create a new key instead.',
  operator_missing: 'Run operators list to see the operators.',
  other_release: 'Restart the server.',
  scope_beyond_role: 'Leave the scope out, or ask one of them.',
}
