/** Names that are allowed, but do not work well as parts of pods' host names. */
import { checkDns1123Label } from "../../machinery/names/names.ts";

export function podNameWarnings(name: string): readonly string[] {
  const faults = checkDns1123Label(name);
  if (faults.length === 0) return [];
  const why =
    "this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended";
  return [`metadata.name: ${why}: [${faults.join(" ")}]`];
}
