/** Abbreviations of access modes. */
const short = [
  ["ReadWriteOnce", "RWO"],
  ["ReadOnlyMany", "ROX"],
  ["ReadWriteMany", "RWX"],
  ["ReadWriteOncePod", "RWOP"],
] as const;

export function accessModesText(modes: readonly string[] | undefined): string {
  return short.flatMap(([mode, text]) => (modes?.includes(mode) ? [text] : [])).join(",");
}
