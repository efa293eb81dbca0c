import type { Random } from "#base";
import { flatText } from "../json/flat-text.ts";

const maxLength = 63;
const randomLength = 5;

/**
 * The name for `metadata.generateName`: the base, shortened so that the whole fits a DNS label, and five random
 * characters.
 */
export function generateName(base: string, random: Random): string {
  return flatText(base.slice(0, maxLength - randomLength) + random.string(randomLength));
}
