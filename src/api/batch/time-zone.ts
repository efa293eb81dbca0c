/** Names of time zones in the IANA database. */

const spelling = /^[A-Za-z][\w+\-/]*$/;

/** Case-sensitive; offsets such as `+01:00` are not names. */
export function isTimeZone(name: string): boolean {
  if (!spelling.test(name)) return false;
  let resolved: string;
  try {
    resolved = new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
  // An alias may resolve to another name; the same name must have the same case.
  return resolved === name || resolved.toLowerCase() !== name.toLowerCase();
}

/** Go's message for a name that it does not know. */
export function timeZoneFault(name: string): string | undefined {
  return isTimeZone(name) ? undefined : `unknown time zone ${name}`;
}
