/**
 * EndpointSlices for Endpoints that users write: those of Services without a selector.
 *
 *     Endpoints, Services, EndpointSlices --► key of the Endpoints ──► planMirror ══► EndpointSlices
 */
import { kinds } from "#api";
import { MANAGED_BY, SERVICE_NAME, type Slice } from "../endpoint-slice/index.ts";
import { type Controller, changesOf, defineController, keysFrom } from "../runtime/index.ts";
import { isMirrored, MANAGER, planMirror, planRemoval } from "./plan.ts";

export interface MirroringSettings {
  /** `--mirroring-max-endpoints-per-subset`. Default: 1000. */
  readonly maxPerSubset?: number | undefined;
}

export const endpointSliceMirroring = mirroredSlices({});

export function mirroredSlices({ maxPerSubset }: MirroringSettings): Controller {
  return defineController({
    name: "endpointslice-mirroring-controller",
    account: "endpointslicemirroring-controller",
    reportsAs: "endpoint-slice-mirroring-controller",
    bind({ cache }) {
      const endpoints = cache(kinds.Endpoints);
      const services = cache(kinds.Service);
      const slicesOf = cache(kinds.EndpointSlice).index("mirrored", serviceKeys);
      return {
        sources: [
          changesOf(kinds.Endpoints),
          changesOf(kinds.Service),
          keysFrom(kinds.EndpointSlice, ({ object, old = object }) => [...serviceKeys(object), ...serviceKeys(old)]),
        ],
        reconcile(key) {
          const slices = slicesOf(key).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
          const source = endpoints.get(key);
          if (source === undefined || !isMirrored(source, services.get(key))) return planRemoval(slices);
          return planMirror(source, slices, maxPerSubset);
        },
      };
    },
  });
}

/** The key of the mirrored Endpoints. */
function serviceKeys({ metadata: { namespace = "", labels = {} } }: Slice): readonly string[] {
  const { [SERVICE_NAME]: service = "", [MANAGED_BY]: manager } = labels;
  return manager === MANAGER && service !== "" ? [`${namespace}/${service}`] : [];
}
