/** Tracing from `--tracing-config-file`: a TracingConfiguration (apiserver.config.k8s.io). */
import { isObject, type JsonObject, parseYaml } from "#api";
import { type Clock, type Logger, type MetricsRegistry, systemRandom } from "#base";
import { readTracingSettings, Tracing, type TracingSettings } from "#tracing";
import { ClusterError } from "./errors.ts";
import { readFlag } from "./flag-files.ts";

const FLAG = "--tracing-config-file";
const VERSIONS = ["v1", "v1beta1", "v1alpha1"].map((version) => `apiserver.config.k8s.io/${version}`);
const KIND = "TracingConfiguration";

export interface TracingParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: MetricsRegistry;
}

/** Undefined without a file: nothing is traced. It is closed with `closing`. */
export async function openTracing(
  file: string | undefined,
  { clock, log, metrics }: TracingParts,
  closing: AsyncDisposableStack,
): Promise<Tracing | undefined> {
  if (file === undefined) return undefined;
  const settings = parseTracing(await readFlag(FLAG, file), file);
  const tracing = await Tracing.open({ ...settings, clock, random: systemRandom(), log, metrics });
  closing.defer(() => tracing.close());
  return tracing;
}

/** Throws ClusterError. */
export function parseTracing(text: string, file: string): TracingSettings {
  const refused = (why: string, cause?: unknown) => new ClusterError(`${FLAG} ${file}: ${why}.`, { cause });
  const { apiVersion, kind, ...fields } = documentIn(text, refused);
  if (kind !== KIND || typeof apiVersion !== "string" || !VERSIONS.includes(apiVersion))
    throw refused(`it must be of the kind ${KIND}, ${VERSIONS.join(" or ")}`);
  try {
    return readTracingSettings(fields);
  } catch (error) {
    throw refused(`failed to validate tracing configuration: ${(error as Error).message}`, error);
  }
}

function documentIn(text: string, refused: (why: string, cause?: unknown) => ClusterError): JsonObject {
  try {
    const { value } = parseYaml(text);
    if (isObject(value)) return value;
  } catch (error) {
    throw refused(`unable to decode tracing configuration data: ${(error as Error).message}`, error);
  }
  throw refused(`it is no ${KIND}`);
}
