import { Radio } from '@mantine/core'
import { roleName } from '../../shell/role-name.ts'
import classes from './team.module.css'
import type { RoleChoice } from './teammate.ts'

/** A choice between the roles that the caller may give, each with what it may do. */
export function RoleChoices({
  label,
  roles,
  isReadOnly,
  value,
  onChange,
}: {
  label: string
  roles: readonly RoleChoice[]
  /** While the choice is being sent. */
  isReadOnly: boolean
  value: RoleChoice['role']
  onChange: (role: RoleChoice['role']) => void
}) {
  return (
    <Radio.Group
      label={label}
      readOnly={isReadOnly}
      value={value}
      onChange={(role) => onChange(role as RoleChoice['role'])}
    >
      <div className={classes.choices}>
        {roles
          .filter(({ may_give }) => may_give)
          .map(({ role, description }) => (
            <Radio key={role} value={role} size="xs" label={roleName(role)} description={description} />
          ))}
      </div>
    </Radio.Group>
  )
}
