/** Several faults as one: the first alone, several in brackets, each told once. */
export function aggregate(faults: readonly string[]): string {
  const told = [...new Set(faults)];
  return told.length === 1 ? (told[0] ?? "") : `[${told.join(", ")}]`;
}
