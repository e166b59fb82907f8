import { Button } from '@mantine/core'
import { BrandMark } from '../components/brand.tsx'
import classes from './not-found-page.module.css'

/** What an account without an organization sees: it was removed from its last one. */
export function NoOrganizationPage() {
  return (
    <main className={classes.page}>
      <BrandMark size={32} />
      <h1>You belong to no organization</h1>
      <p className="secondary">
        Your account works, but it was removed from its last organization. Ask an owner or admin for an invitation link.
      </p>
      <div>
        <Button component="a" href="/account" variant="default">
          Your account
        </Button>
      </div>
    </main>
  )
}
