import { useMe } from '../../api/use-me.ts'
import { useAccountOperation } from '../../api/use-operation.ts'
import { Failed } from '../../components/failed.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import classes from './account-page.module.css'
import { CommandLineSection } from './command-line-section.tsx'
import { NumberSection } from './number-section.tsx'
import { PasskeySection } from './passkey-section.tsx'
import { PasswordSection } from './password-section.tsx'
import { ProfileSection } from './profile-section.tsx'
import { SessionSection } from './session-section.tsx'
import { SingleSignOnSection } from './single-sign-on-section.tsx'
import { TwoFactorSection } from './two-factor-section.tsx'

/** The page "Your account": who one is, how one signs in, and where one is signed in. */
export function AccountPage() {
  const me = useMe()
  const security = useAccountOperation('account.show-security', {})
  return (
    <>
      <PageHeader
        title="Your account"
        below="It is yours in every organization. Changes of how you sign in go on their audit logs."
      />
      <div className={classes.sections}>
        {me.data && <ProfileSection account={me.data.account} />}
        {me.data && <NumberSection account={me.data.account} />}
        {security.error && !security.data && <Failed error={security.error} onRetry={() => security.refetch()} />}
        {security.data && (
          <>
            <PasswordSection hasPassword={security.data.has_password} />
            <TwoFactorSection security={security.data} />
            <PasskeySection security={security.data} />
          </>
        )}
        {security.data && <SingleSignOnSection hasPassword={security.data.has_password} />}
        {security.data && <CommandLineSection hasPassword={security.data.has_password} />}
        <SessionSection />
      </div>
    </>
  )
}
