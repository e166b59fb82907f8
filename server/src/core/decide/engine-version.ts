/** Changes whenever the same facts under the same policy would give other bytes; recorded with every decision. */
export const ENGINE_VERSION = '1'
