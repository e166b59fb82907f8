import classes from './avatar.module.css'

/** A person by their initials. */
export function Avatar({ name, size = 26 }: { name: string; size?: number }) {
  return (
    <span className={classes.avatar} style={{ width: size, height: size, fontSize: size * 0.4 }} aria-hidden="true">
      {initialsOf(name)}
    </span>
  )
}

/** The first letters of the first and the last word of a name; words in brackets do not count. */
function initialsOf(name: string): string {
  const words = name.split(/\s+/).filter((word) => /^\p{L}/u.test(word))
  return [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => word?.[0]?.toUpperCase() ?? '').join('')
}
