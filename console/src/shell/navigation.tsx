import { useOperation } from '../api/use-operation.ts'
import { pathIn, useNextPlace } from '../api/use-place.ts'
import { PathLink } from '../components/page-link.tsx'
import { writeCount } from '../components/write-number.ts'
import { useCurrentPage } from './environment-switch.tsx'
import classes from './navigation.module.css'
import { PAGE_GROUPS } from './pages.ts'

/** The grouped list of pages. */
export function Navigation({ onFollow }: { onFollow: () => void }) {
  const current = useCurrentPage()
  const place = useNextPlace()
  return (
    <nav aria-label="Main" className={classes.navigation}>
      {PAGE_GROUPS.map((group) => (
        <div key={group.title ?? ''}>
          {group.title && <div className={classes.group}>{group.title}</div>}
          <ul className={classes.list}>
            {group.pages.map(({ path, title, icon: Icon }) => {
              const isOn = path === current || (path === 'webhooks' && current === 'deliveries')
              return (
                <li key={path}>
                  <PathLink
                    path={pathIn(place, path)}
                    className={classes.link}
                    data-on={isOn || undefined}
                    aria-current={isOn ? 'page' : undefined}
                    onClick={onFollow}
                  >
                    <Icon size={16} stroke={1.75} />
                    {title}
                    {path === 'review-queue' && <OpenCases />}
                  </PathLink>
                </li>
              )
            })}
          </ul>
        </div>
      ))}
    </nav>
  )
}

const COUNTED_EVERY_MS = 30_000

/** How many cases wait for a person; nothing while there are none. */
function OpenCases() {
  const { data } = useOperation('cases.count', {}, { refetchIntervalMs: COUNTED_EVERY_MS })
  if (!data || data.all === 0) return null
  return (
    <span className={classes.count}>
      {writeCount(data.all)}
      {data.is_more && '+'}
      <span className="visually-hidden"> open cases</span>
    </span>
  )
}
