/** Reads a zip archive with what Node has: a fresh machine may have neither unzip nor Python. No encryption, no zip64. */
import { inflateRawSync } from "node:zlib";

const END_OF_DIRECTORY = Buffer.from("PK\x05\x06", "latin1");
const STORED = 0;

/** The archive's files by name, each inflated when it is called for. */
export function unzip(archive) {
  const end = archive.lastIndexOf(END_OF_DIRECTORY);
  if (end === -1) throw new Error("this is no zip archive");
  const files = new Map();
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    const method = archive.readUInt16LE(at + 10);
    const size = archive.readUInt32LE(at + 20);
    const nameBytes = archive.readUInt16LE(at + 28);
    const header = archive.readUInt32LE(at + 42);
    const name = archive.toString("utf8", at + 46, at + 46 + nameBytes);
    files.set(name, () => {
      const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
      const content = archive.subarray(start, start + size);
      return method === STORED ? content : inflateRawSync(content);
    });
    at += 46 + nameBytes + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return files;
}
