import '@mantine/core/styles.layer.css'
import '@mantine/notifications/styles.layer.css'
import '@mantine/spotlight/styles.layer.css'
import '@fontsource-variable/inter/wght.css'
import '@fontsource-variable/jetbrains-mono/wght.css'
import './theme/tokens.css'
import './theme/base.css'
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { showMessagesBy } from './api/messages.ts'
import { createQueryClient } from './api/query-client.ts'
import { UtcTooltip } from './components/utc-tooltip.tsx'
import { createConsoleRouter } from './router.tsx'
import { leaveForSignIn } from './shell/signed-out.ts'
import { TOASTS } from './shell/toasts.tsx'
import { guardTyping } from './shell/typing-guard.ts'
import { listenForShortcuts } from './shell/use-shortcuts.ts'
import { resolveCssVariables, theme } from './theme/theme.ts'

/** The nonce of this page, without which the content security policy refuses the styles that Mantine adds. */
const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? ''
// react-remove-scroll, which Mantine's dialogs use, takes its nonce from this global of webpack.
Object.assign(globalThis, { __webpack_nonce__: nonce })

const queries = createQueryClient(() => leaveForSignIn(queries, (path) => router.history.push(path)))
const router = createConsoleRouter(queries)
showMessagesBy(TOASTS)
guardTyping()
listenForShortcuts()

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={resolveCssVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={queries}>
        {/* At the top, because forms end at the bottom: a toast must not lie on the button of the next act. */}
        <Notifications position="top-center" limit={4} containerWidth={400} />
        <UtcTooltip />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
