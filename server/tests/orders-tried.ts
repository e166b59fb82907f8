/** How many orders of the same reports the tests of the trust graph try: two in `npm test`, up to 24 in their proof. */
export const ordersTried = { atMost: 2 }
