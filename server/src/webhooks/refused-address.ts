/** Nothing was sent, because the receiver is at an address that nothing may be sent to. */
export class RefusedAddress extends Error {
  override name = 'RefusedAddress'
}
