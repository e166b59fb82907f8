const BROWSERS: [string, RegExp][] = [
  ['Edge', /\bEdgA?\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(Firefox|FxiOS)\//],
  ['Chrome', /\b(Chrome|CriOS|HeadlessChrome)\//],
  ['Safari', /\bSafari\//],
]
const SYSTEMS: [string, RegExp][] = [
  ['Android', /Android/],
  ['iPhone', /iPhone/],
  ['iPad', /iPad/],
  ['Windows', /Windows/],
  ['macOS', /Macintosh|Mac OS X/],
  ['ChromeOS', /CrOS/],
  ['Linux', /Linux/],
]

/** Describes a browser for its person, by its `User-Agent`: such as "Firefox on Linux". */
export function deviceOf(userAgent: string): string {
  const nameIn = (names: typeof BROWSERS) => names.find(([, pattern]) => pattern.test(userAgent))?.[0]
  const browser = nameIn(BROWSERS)
  const system = nameIn(SYSTEMS)
  if (!browser) return system ? `A program on ${system}` : 'Another program'
  return system ? `${browser} on ${system}` : browser
}
