/** Writes tar archives (POSIX ustar) from memory, reproducibly: no times, no users. */

const BLOCK = 512;

export type TarEntry =
  | { readonly path: string; readonly type: "file"; readonly content: Uint8Array; readonly mode?: number }
  | { readonly path: string; readonly type: "directory"; readonly mode?: number }
  | { readonly path: string; readonly type: "symlink"; readonly target: string };

export function tar(entries: readonly TarEntry[]): Buffer {
  const parts: Buffer[] = [];
  for (const entry of entries) {
    parts.push(tarHeader(entry));
    if (entry.type === "file") parts.push(Buffer.from(entry.content), padding(entry.content.length));
  }
  return Buffer.concat([...parts, tarEnd()]);
}

/** The header of an entry: for archives too big for memory. */
export function tarHeader(
  entry: TarEntry | { readonly path: string; readonly type: "file"; readonly bytes: number },
): Buffer {
  const header = Buffer.alloc(BLOCK);
  const [prefix, name] = splitPath(entry.type === "directory" ? `${entry.path}/` : entry.path);
  const mode = "mode" in entry && entry.mode !== undefined ? entry.mode : entry.type === "file" ? 0o644 : 0o755;
  header.write(name, 0, 100);
  header.write(octal(mode, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(bytesOf(entry), 12), 124);
  header.write(octal(0, 12), 136);
  header.write(" ".repeat(8), 148);
  header.write({ file: "0", symlink: "2", directory: "5" }[entry.type], 156);
  if (entry.type === "symlink") header.write(entry.target, 157, 100);
  header.write("ustar\0" + "00", 257);
  header.write(prefix, 345, 155);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}

/** The padding of a file's last block. */
export function padding(bytes: number): Buffer {
  return Buffer.alloc((BLOCK - (bytes % BLOCK)) % BLOCK);
}

export function tarEnd(): Buffer {
  return Buffer.alloc(2 * BLOCK);
}

function bytesOf(entry: Parameters<typeof tarHeader>[0]): number {
  if (entry.type !== "file") return 0;
  return "bytes" in entry ? entry.bytes : entry.content.length;
}

function octal(value: number, width: number): string {
  const text = value.toString(8);
  if (text.length > width - 1) throw new RangeError(`a tar archive has no room for ${value}`);
  return `${text.padStart(width - 1, "0")}\0`;
}

/** A long path is split at a slash into prefix and name. */
function splitPath(path: string): [prefix: string, name: string] {
  if (Buffer.byteLength(path) <= 100) return ["", path];
  for (let slash = path.indexOf("/"); slash !== -1; slash = path.indexOf("/", slash + 1)) {
    const [prefix, name] = [path.slice(0, slash), path.slice(slash + 1)];
    if (Buffer.byteLength(prefix) <= 155 && Buffer.byteLength(name) <= 100 && name !== "") return [prefix, name];
  }
  throw new RangeError(`a tar archive has no room for the path ${path}`);
}
