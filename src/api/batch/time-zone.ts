/** Names of time zones, as the IANA database has them. */

const spelling = /^[A-Za-z][\w+\-/]*$/;

/** Case matters, as it does for files; offsets such as `+01:00` are no names. */
export function isTimeZone(name: string): boolean {
  if (!spelling.test(name)) return false;
  let resolved: string;
  try {
    resolved = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
  // An older name may resolve to another one; where it is the same one, it must be written alike.
  return resolved === name || resolved.toLowerCase() !== name.toLowerCase();
}

/** What Go says of a name that it cannot load. */
export function timeZoneFault(name: string): string | undefined {
  if (name.includes("..") || name.startsWith("/") || name.startsWith("\\")) return "time: invalid location name";
  return isTimeZone(name) ? undefined : `unknown time zone ${name}`;
}
