import { Menu, UnstyledButton } from '@mantine/core'
import { IconCheck, IconSelector } from '@tabler/icons-react'
import { useMe, useMembership } from '../api/use-me.ts'
import { pathIn, useNextPlace, usePlace } from '../api/use-place.ts'
import { BrandMark } from '../components/brand.tsx'
import { PathLink } from '../components/page-link.tsx'
import classes from './console-shell.module.css'
import { roleName } from './role-name.ts'

/** The name of the organization; a menu of the caller's organizations if there are several. */
export function OrganizationSwitch() {
  const shown = usePlace()
  const next = useNextPlace()
  const membership = useMembership()
  const organizations = useMe().data?.organizations ?? []
  const name = membership?.name ?? 'Verdigraph'
  const brand = (
    <>
      <BrandMark />
      <span className="truncate">{name}</span>
    </>
  )
  if (organizations.length < 2) return <div className={classes.brand}>{brand}</div>
  return (
    <Menu position="bottom-start" width={228}>
      <Menu.Target>
        <UnstyledButton className={classes.brand} aria-label={`Switch organization, ${name}`}>
          {brand}
          <IconSelector size={16} stroke={1.75} className={classes.selector} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown aria-label="Organizations">
        {organizations.map((organization) => {
          const href = pathIn({ ...next, organizationId: organization.id }, 'overview')
          return (
            <Menu.Item
              key={organization.id}
              component={PathLink}
              path={href}
              rightSection={organization.id === shown.organizationId ? <IconCheck size={14} /> : undefined}
            >
              {organization.name}
              <div className="small dim">{roleName(organization.role)}</div>
            </Menu.Item>
          )
        })}
      </Menu.Dropdown>
    </Menu>
  )
}
