// Where Node.js keeps compiled code for the next start.
const { mkdirSync, statSync } = require('node:fs')

/**
 * Whether a folder is fit for compiled code, which Node.js runs without comparing it with its source: it belongs to the user of this
 * process, and no other user can write to it. It is created if it can be.
 * @param {string} folder
 */
function isFitForCache(folder) {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { uid, mode } = statSync(folder)
    return uid === process.getuid?.() && (mode & 0o022) === 0
  } catch {
    return false
  }
}

module.exports = { isFitForCache }
