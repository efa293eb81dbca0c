/** Where a Pod runs, its addresses, and what its status says. */
import type { core } from "#api";
import { NODES, placeOf } from "../api/resources.ts";
import { podSummary } from "../model/pod.ts";
import { State } from "../parts/state.tsx";
import { objectRoute } from "../route.ts";

export function PodFacts({ pod }: { readonly pod: core.Pod }) {
  const { spec, status } = pod;
  const { word, tone } = podSummary(pod);
  const addresses = (status?.podIPs ?? []).map(({ ip }) => ip).join(", ") || status?.podIP;
  const node = spec?.nodeName;
  return (
    <>
      <div>
        <dt>Status</dt>
        <dd>
          <State tone={tone} words={word} />
          {status?.message !== undefined && <span class="detail dim">{status.message}</span>}
        </dd>
      </div>
      <div>
        <dt>Node</dt>
        <dd>
          {node === undefined ? (
            <span class="dim">none yet</span>
          ) : (
            <a href={objectRoute(placeOf(NODES, { metadata: { name: node } }))}>{node}</a>
          )}
        </dd>
      </div>
      <div>
        <dt>Address</dt>
        <dd>{addresses ? <code>{addresses}</code> : <span class="dim">none yet</span>}</dd>
      </div>
      <div>
        <dt>QoS class</dt>
        <dd>{status?.qosClass}</dd>
      </div>
    </>
  );
}
