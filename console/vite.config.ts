import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** The server replaces this text by the nonce of the request; Vite writes it into the tags and the meta element. */
const NONCE_PLACEHOLDER = 'NONCE-OF-THIS-REQUEST'

/** The service whose data the development server shows. */
const SERVICE = 'http://127.0.0.1:4000'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  html: { cspNonce: NONCE_PLACEHOLDER },
  // `npx vite console` for work on the page: it reloads by itself and takes its data from a service that runs.
  server: {
    port: 4001,
    proxy: { '/api': { target: SERVICE, headers: { Origin: SERVICE } } },
  },
  build: {
    outDir: 'dist',
    // The content security policy allows no data: URLs for fonts and scripts.
    assetsInlineLimit: 0,
    manifest: true,
    target: 'es2023',
    // One file of styles: Vite does not fetch those of a page again whose first try failed in an outage.
    cssCodeSplit: false,
  },
})
