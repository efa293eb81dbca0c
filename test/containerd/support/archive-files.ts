/** The files of a tar archive, by path. */
export function filesIn(tar: Buffer): Map<string, Buffer> {
  const found = new Map<string, Buffer>();
  for (let at = 0; tar[at] !== 0; ) {
    const field = (from: number, length: number) =>
      tar.toString("utf8", at + from, at + from + length).split("\0")[0] ?? "";
    const size = Number.parseInt(field(124, 12), 8);
    found.set(field(0, 100), tar.subarray(at + 512, at + 512 + size));
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return found;
}
