/** Options of the CPU and the topology manager: which there are, and behind which feature gates. Pure. */
export interface OptionLevels {
  /** In messages: `CPU Manager Policy`. */
  readonly kind: string;
  /** The prefix of its feature gates: `CPUManagerPolicy`. */
  readonly gate: string;
  readonly stable: readonly string[];
  readonly beta: readonly string[];
  readonly alpha: readonly string[];
}

/** Throws Error with upstream's words. */
export function knownOption(
  { kind, gate, stable, beta, alpha }: OptionLevels,
  name: string,
  enabled: (gate: string) => boolean,
): void {
  if (stable.includes(name)) return;
  if (!beta.includes(name) && !alpha.includes(name)) throw new Error(`unknown ${kind} option: "${name}"`);
  const level = beta.includes(name) ? "Beta" : "Alpha";
  if (!enabled(`${gate}${level}Options`))
    throw new Error(`${kind} ${level}-level Options not enabled, but option "${name}" provided`);
}

/** As Go reads it. */
export function isTrue(name: string, value: string): boolean {
  if (["1", "t", "T", "true", "TRUE", "True"].includes(value)) return true;
  if (["0", "f", "F", "false", "FALSE", "False"].includes(value)) return false;
  throw new Error(`bad value for option "${name}": strconv.ParseBool: parsing "${value}": invalid syntax`);
}
