/** Recorded with every decision; raised whenever the same policy and facts would give other bytes. */
export const ENGINE_VERSION = '1'
