/** Egress from `--egress-selector-config-file`: an EgressSelectorConfiguration, and the certificates that it names. */
import { existsSync } from "node:fs";
import { dialMetrics, type Egress, EgressConfigError, type EgressSelections, egress, parseEgress } from "#apiserver";
import { type Clock, type MetricsRegistry, systemRandom } from "#base";
import { ClusterError } from "./errors.ts";
import { readFlag } from "./flag-files.ts";

const FLAG = "--egress-selector-config-file";

/** Undefined without a file: connections are made directly. Throws ClusterError. */
export async function openEgress(
  file: string | undefined,
  { clock, metrics }: { readonly clock: Clock; readonly metrics: MetricsRegistry },
): Promise<Egress | undefined> {
  if (file === undefined) return undefined;
  const selections = parsed(await readFlag(FLAG, file), file);
  const read = (path: string) => readFlag(FLAG, path);
  return egress({ selections, read, metrics: dialMetrics(metrics, clock), clock, random: systemRandom() });
}

function parsed(text: string, file: string): EgressSelections {
  try {
    return parseEgress(text, file, existsSync);
  } catch (error) {
    if (!(error instanceof EgressConfigError)) throw error;
    throw new ClusterError(`${FLAG}: ${error.message}`, { cause: error });
  }
}
