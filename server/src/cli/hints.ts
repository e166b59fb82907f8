/** What a person at the command line can do about a problem, by its code. */
export const HINTS: Readonly<Record<string, string>> = {
  answer_lost: 'Check whether the command took effect before you repeat it.',
  changed_meanwhile: 'Look at its state and try again.',
  code_wrong: 'Wait for the next one.',
  codes_replaced: 'Use the new authenticator app.',
  key_not_found: 'Run keys list to see the keys.',
  key_revoked: 'Create a new key instead.',
  no_codes: 'Sign in to the console and set them up there, under Your account → Command line.',
  no_organization: 'Create one with orgs create <name>.',
  operator_missing: 'Run operators list to see the operators.',
  operator_not_found: 'Run operators list to see them, operators add to add one.',
  organization_ambiguous: 'Use the id.',
  organization_exists: 'Choose another name.',
  organization_missing: 'Say which with --org <name>.',
  organization_not_found: 'Run orgs list to see them.',
  other_release: 'Restart the server.',
  scope_beyond_role: 'Leave the scope out, or ask one of them.',
}
