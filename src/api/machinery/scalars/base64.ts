/** Base64 without Buffer, as strict as Go: the standard alphabet with padding; line breaks are skipped. */

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const canonical = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?$/;

/** Whether encoding the decoded bytes gives the same text again. */
export function isCanonicalBase64(text: string): boolean {
  return canonical.test(text);
}

/** Node 22 and 24 and older browsers lack the engine's own functions. */
const isNative = "toBase64" in Uint8Array.prototype && "fromBase64" in Uint8Array;

export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return isNative ? Uint8Array.fromBase64(text) : plainDecode(text);
}

export function encodeBase64(bytes: Uint8Array): string {
  return isNative ? bytes.toBase64() : plainEncode(bytes);
}

/** The same in any engine. */
export function plainDecode(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
}

export function plainEncode(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** Bytes as lower-case hexadecimal digits. */
export function encodeHex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}

/** The offset at which Go stops reading; undefined if it reads everything. */
export function base64Fault(text: string): number | undefined {
  let at = 0;
  const next = (): string => {
    while (text[at] === "\n" || text[at] === "\r") at++;
    return text.charAt(at++);
  };
  for (;;) {
    for (let i = 0; i < 4; i++) {
      const char = next();
      if (char === "") return i === 0 ? undefined : text.length - i;
      if (alphabet.includes(char)) continue;
      if (char !== "=" || i < 2) return at - 1;
      if (i === 2) {
        const second = next();
        if (second === "") return text.length;
        if (second !== "=") return at - 1;
      }
      return next() === "" ? undefined : at - 1;
    }
  }
}
