/**
 * The kinds that a server serves, as `--runtime-config` and the feature gates say.
 *
 * 1. Without either, these are `builtIn`.
 * 2. A kind whose gate is off is not served, whatever `--runtime-config` says, as in Kubernetes.
 */
import { builtIn, optionalKinds } from "./all-kinds.ts";
import { keyOf } from "./definition/define-kind.ts";
import { type RuntimeConfig, resourceSelection } from "./definition/runtime-config.ts";
import { optionalKinds as optionalFacts } from "./facts/index.ts";
import { defaultFeatures } from "./features/index.ts";
import type { Kind } from "./machinery/kind.ts";

export interface ServedApis {
  /** Default: empty. */
  readonly runtimeConfig?: RuntimeConfig | undefined;
  /** Whether a feature gate is on. Default: as in v1.36. */
  readonly enabled?: ((gate: string) => boolean) | undefined;
}

/** Throws RuntimeConfigError. */
export function servedKinds({ runtimeConfig, enabled = defaultFeatures.enabled }: ServedApis = {}): readonly Kind[] {
  if (runtimeConfig === undefined || runtimeConfig.size === 0) return builtIn;
  const selected = resourceSelection(runtimeConfig);
  const gates = new Map(optionalFacts().map((facts) => [keyOf(facts), facts.gate]));
  const isServed = (kind: Kind, always: boolean) => {
    const gate = gates.get(keyOf(kind));
    if (gate !== undefined && !enabled(gate)) return false;
    return selected({ group: kind.group, version: kind.version, plural: kind.names.plural }, always);
  };
  return [...builtIn.filter((kind) => isServed(kind, true)), ...optionalKinds.filter((kind) => isServed(kind, false))];
}
