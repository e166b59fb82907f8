/** What a person at the page can do about a problem, by its code. */
export const HINTS: Readonly<Record<string, string>> = {
  account_exists: 'Sign in, then open the link again.',
  changed_meanwhile: 'Look at its state and try again.',
  code_wrong: 'Check the time of your phone, and enter the code it shows now.',
  codes_replaced: 'Use the new authenticator app.',
  email_taken: 'Ask for an invitation.',
  first_link_ended: 'npm run cli -- operators first-link makes another while there is no owner.',
  invitation_ended: 'Ask for another invitation.',
  last_owner: 'Make another operator an owner first.',
  no_active_policy: 'Propose, approve and activate one there first.',
  not_in_production: 'Switch to production first.',
  organization_exists: 'Choose another name.',
  proposal_ended: 'Start again.',
  role_differs: 'Change the role first.',
}
