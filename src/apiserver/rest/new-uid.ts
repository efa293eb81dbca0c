import { UUID_LENGTH, Uuids } from "#base";

const AT_ONCE = 128;

/** Makes a version 4 UUID with each call, in one piece and on its own: it is kept for as long as its object is. */
export function uidSource(): () => string {
  const uuids = new Uuids(AT_ONCE);
  let used = AT_ONCE;
  return () => {
    if (used === AT_ONCE) {
      uuids.renew();
      used = 0;
    }
    const at = used++ * UUID_LENGTH;
    return uuids.letters.toString("latin1", at, at + UUID_LENGTH);
  };
}
