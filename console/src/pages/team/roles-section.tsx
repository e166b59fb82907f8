import { Section } from '../../components/section.tsx'
import { roleName } from '../../shell/role-name.ts'
import classes from './team.module.css'
import type { RoleChoice } from './teammate.ts'

/** What each role may do. */
export function RolesSection({ roles }: { roles: readonly RoleChoice[] }) {
  return (
    <Section title="Roles" sub="What each may do">
      <dl className={classes.roles}>
        {roles.map(({ role, description }) => (
          <div key={role}>
            <dt className="strong">{roleName(role)}</dt>
            <dd>{description}</dd>
          </div>
        ))}
      </dl>
    </Section>
  )
}
