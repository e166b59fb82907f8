import { IconCheck } from '@tabler/icons-react'
import { KeyValues, Section } from '../../components/section.tsx'
import { StateBadge } from '../../components/state-badge.tsx'
import { roleName } from '../../shell/role-name.ts'
import classes from './team.module.css'
import type { Team } from './teammate.ts'

/** Whether operators can sign in through an identity provider, and which groups give which role. */
export function SingleSignOnSection({ singleSignOn }: { singleSignOn: Team['single_sign_on'] }) {
  if (!singleSignOn)
    return (
      <Section title="Single sign-on" end={<StateBadge outline>Off</StateBadge>}>
        <p className="secondary">
          People of this organization sign in with a password or a passkey. To let them sign in through your identity
          provider, and its groups give the roles, set <code>OIDC_ISSUER</code>, <code>OIDC_CLIENT_ID</code>,{' '}
          <code>OIDC_CLIENT_SECRET</code> and <code>OIDC_ROLES</code> on the server.
        </p>
      </Section>
    )
  return (
    <Section
      title="Single sign-on"
      end={
        <StateBadge tone="ok" icon={<IconCheck />}>
          On
        </StateBadge>
      }
    >
      <KeyValues
        rows={[
          ['Provider', <code key="issuer">{singleSignOn.issuer}</code>],
          ['Groups come from the claim', <code key="claim">{singleSignOn.groups_claim}</code>],
        ]}
      />
      <table className={classes.mapping}>
        <thead>
          <tr>
            <th scope="col">Group</th>
            <th scope="col">Role</th>
          </tr>
        </thead>
        <tbody>
          {singleSignOn.roles.map(({ group, role }) => (
            <tr key={`${group} ${role}`}>
              <td>
                <code>{group}</code>
              </td>
              <td>{roleName(role)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="small dim">
        The highest role of a person’s groups counts, and is given again at every sign-in. A person in none of these
        groups is refused.
      </p>
    </Section>
  )
}
