/**
 * The name that a client asks for in the first message of TLS (RFC 8446, 4.1.2; RFC 6066, 3). Pure.
 *
 *     record: type 22 · version · length
 *       handshake (may span records): type 1 · length
 *         version · random · session · ciphers · compression · extensions: 0 = server_name
 */

const HANDSHAKE = 22;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const HOST_NAME = 0;

/** `name` is empty if none is asked for. `more`: too few bytes to know; `other`: this is no TLS. */
export type Hello = { readonly name: string } | "more" | "other";

export function readHello(first: Buffer): Hello {
  const message = handshakeOf(first);
  if (!Buffer.isBuffer(message)) return message;
  try {
    return { name: serverNameOf(message) };
  } catch (error) {
    if (error instanceof RangeError) return "other";
    throw error;
  }
}

/** The bytes of the first handshake message, without its header. */
function handshakeOf(first: Buffer): Buffer | "more" | "other" {
  const parts: Buffer[] = [];
  let have = 0;
  for (let at = 0; ; ) {
    if (at < first.length && first[at] !== HANDSHAKE) return "other";
    if (first.length < at + 5) return "more";
    if (first[at + 1] !== 3) return "other";
    const length = first.readUInt16BE(at + 3);
    if (length === 0) return "other";
    const part = first.subarray(at + 5, at + 5 + length);
    parts.push(part);
    have += part.length;
    if (have >= 4) {
      const all = Buffer.concat(parts);
      if (all[0] !== CLIENT_HELLO) return "other";
      const wanted = all.readUIntBE(1, 3);
      if (have >= 4 + wanted) return all.subarray(4, 4 + wanted);
    }
    at += 5 + length;
    if (first.length < at) return "more";
  }
}

/** Throws RangeError where the message ends too early. */
function serverNameOf(message: Buffer): string {
  let at = 2 + 32;
  at += 1 + message.readUInt8(at);
  at += 2 + message.readUInt16BE(at);
  at += 1 + message.readUInt8(at);
  if (at >= message.length) return "";
  const end = at + 2 + message.readUInt16BE(at);
  if (end > message.length) throw new RangeError("the extensions are cut off");
  for (at += 2; at + 4 <= end; ) {
    const type = message.readUInt16BE(at);
    const length = message.readUInt16BE(at + 2);
    if (type === SERVER_NAME) return firstHostName(message.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return "";
}

function firstHostName(list: Buffer): string {
  for (let at = 2; at + 3 <= list.length; ) {
    const length = list.readUInt16BE(at + 1);
    if (list.readUInt8(at) === HOST_NAME) {
      if (at + 3 + length > list.length) throw new RangeError("the name is cut off");
      return list
        .toString("latin1", at + 3, at + 3 + length)
        .toLowerCase()
        .replace(/\.$/, "");
    }
    at += 3 + length;
  }
  return "";
}
