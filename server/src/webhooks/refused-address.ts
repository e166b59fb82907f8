/** Thrown instead of connecting to an address that webhooks may not be sent to. */
export class RefusedAddress extends Error {
  override name = 'RefusedAddress'
}
