import { Button } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import { BrandMark } from '../components/brand.tsx'
import classes from './not-found-page.module.css'

/** Says that a URL leads nowhere, without saying whether it exists for others. */
export function NotFoundPage() {
  useDocumentTitle('Page not found · Verdigraph')
  return (
    <main className={classes.page}>
      <BrandMark size={32} />
      <h1>There is no page here for you</h1>
      <p className="secondary">
        The address may be mistyped, or the page belongs to an organization that your account is not part of.
      </p>
      <div>
        <Button component="a" href="/">
          Go to your overview
        </Button>
      </div>
    </main>
  )
}
