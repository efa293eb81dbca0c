/** The static table of RFC 7541, appendix A. Index 0 is never used. Both sides share these strings. */

/** The size of both tables (RFC 9113, section 6.5.2), until a setting or an update changes it. */
export const defaultTableBytes = 4096;

/** What a field costs in a table and in a list, besides its name and its value (RFC 7541, section 4.1). */
export const fieldOverheadBytes = 32;

const fields: readonly (readonly [name: string, value?: string])[] = [
  [":authority"],
  [":method", "GET"],
  [":method", "POST"],
  [":path", "/"],
  [":path", "/index.html"],
  [":scheme", "http"],
  [":scheme", "https"],
  [":status", "200"],
  [":status", "204"],
  [":status", "206"],
  [":status", "304"],
  [":status", "400"],
  [":status", "404"],
  [":status", "500"],
  ["accept-charset"],
  ["accept-encoding", "gzip, deflate"],
  ["accept-language"],
  ["accept-ranges"],
  ["accept"],
  ["access-control-allow-origin"],
  ["age"],
  ["allow"],
  ["authorization"],
  ["cache-control"],
  ["content-disposition"],
  ["content-encoding"],
  ["content-language"],
  ["content-length"],
  ["content-location"],
  ["content-range"],
  ["content-type"],
  ["cookie"],
  ["date"],
  ["etag"],
  ["expect"],
  ["expires"],
  ["from"],
  ["host"],
  ["if-match"],
  ["if-modified-since"],
  ["if-none-match"],
  ["if-range"],
  ["if-unmodified-since"],
  ["last-modified"],
  ["link"],
  ["location"],
  ["max-forwards"],
  ["proxy-authenticate"],
  ["proxy-authorization"],
  ["range"],
  ["referer"],
  ["refresh"],
  ["retry-after"],
  ["server"],
  ["set-cookie"],
  ["strict-transport-security"],
  ["transfer-encoding"],
  ["user-agent"],
  ["vary"],
  ["via"],
  ["www-authenticate"],
];

export const staticNames: readonly string[] = ["", ...fields.map(([name]) => name)];
export const staticValues: readonly string[] = ["", ...fields.map(([, value = ""]) => value)];

/** The dynamic table's newest entry has the index after the last one of the static table. */
export const staticLength = fields.length;
