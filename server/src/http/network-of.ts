import { isIPv6 } from 'node:net'

/** The network of a client: its IPv4 address, or the 64-bit prefix of its IPv6 address, which one client has whole. */
export function networkOf(address = ''): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped) return mapped
  const [text = ''] = address.split('%', 1)
  if (!isIPv6(text)) return text
  const [head = '', tail] = text.split('::', 2)
  const before = head === '' ? [] : head.split(':')
  const after = tail ? tail.split(':') : []
  const zeros = tail === undefined ? 0 : 8 - before.length - after.length
  return [...before, ...Array<string>(zeros).fill('0'), ...after].slice(0, 4).join(':')
}
