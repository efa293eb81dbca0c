/**
 * Tells users whose volumes are in use on a node that has failed: what external-health-monitor-controller does with
 * --enable-node-watcher, with Events about the claims.
 *
 *     Node not ready for five minutes, or gone ──► claims of its Pods ──► NodeFailed
 *     ready again ──► NodeRecovered
 */
import { type core, kinds } from "#api";
import { objectKey, type RecordedEvent } from "#client";
import { type Controller, defineController, keysFrom } from "#controllers";
import { isOfDriver } from "../calls/volumes.ts";

export interface NodeWatcherOptions {
  readonly driverName: string;
  readonly account: string;
  readonly reportsAs: string;
  /** Default: 5 minutes. */
  readonly patienceMs?: number | undefined;
}

export const nodeWatcher = (options: NodeWatcherOptions): Controller => {
  const { driverName, account, reportsAs, patienceMs = 300_000 } = options;
  return defineController({
    name: "csi-health-node-watcher",
    account,
    reportsAs,
    bind({ cache }) {
      const nodes = cache(kinds.Node);
      const claims = cache(kinds.PersistentVolumeClaim);
      const volumes = cache(kinds.PersistentVolume);
      const pods = cache(kinds.Pod).index("node of a Pod with volumes", ({ spec }) =>
        spec?.nodeName === undefined || (spec.volumes ?? []).length === 0 ? [] : [spec.nodeName],
      );
      /** Nodes about which was told that they have failed. */
      const failed = new Set<string>();

      const isOurs = ({ spec }: core.PersistentVolumeClaim) => {
        const volume = volumes.get(spec?.volumeName ?? "");
        return volume !== undefined && isOfDriver(volume, driverName) && volume.status?.phase === "Bound";
      };
      /** Claims of Pods on the node, with the names of these Pods. */
      const claimsOn = (node: string) => {
        const found = new Map<core.PersistentVolumeClaim, string[]>();
        for (const pod of pods(node)) {
          for (const key of claimKeys(pod)) {
            const claim = claims.get(key);
            if (claim === undefined || !isOurs(claim)) continue;
            found.set(claim, [...(found.get(claim) ?? []), pod.metadata.name ?? ""]);
          }
        }
        return [...found];
      };
      const failures = (node: string): RecordedEvent[] =>
        claimsOn(node).map(([about, names]) => {
          const { name, namespace } = about.metadata;
          const note = `Pods: [ ${names.join(" ")} ] consuming PVC: ${name} in namespace: ${namespace} are now on a failed node: ${node}`;
          return { about, type: "Warning", reason: "NodeFailed", note };
        });
      const recoveries = (node: string): RecordedEvent[] =>
        claimsOn(node).map(([about]) => ({
          ...{ about, type: "Warning", reason: "NodeRecovered" },
          note: `Node: ${node} recovered`,
        }));

      return {
        sources: [
          keysFrom(kinds.Node, ({ type, object, old }) => {
            const same = type === "updated" && readyOf(object)?.status === (old && readyOf(old)?.status);
            return same ? [] : [objectKey(object)];
          }),
          // For the caches alone.
          keysFrom(kinds.Pod, () => []),
          keysFrom(kinds.PersistentVolume, () => []),
          keysFrom(kinds.PersistentVolumeClaim, () => []),
        ],
        reconcile(key, now) {
          const node = nodes.get(key);
          const ready = node && readyOf(node);
          if (node !== undefined && ready === undefined) return undefined;
          if (ready?.status === "True") return failed.delete(key) ? { events: recoveries(key) } : undefined;
          const sinceMs = Date.parse(ready?.lastTransitionTime ?? "");
          const leftMs = ready === undefined || Number.isNaN(sinceMs) ? 0 : sinceMs + patienceMs - now;
          if (leftMs > 0) return { againAfterMs: leftMs };
          if (failed.has(key) && node !== undefined) return undefined;
          if (node === undefined) failed.delete(key);
          else failed.add(key);
          return { events: failures(key) };
        },
      };
    },
  });
};

function readyOf({ status }: core.Node): core.NodeCondition | undefined {
  return status?.conditions?.find(({ type }) => type === "Ready");
}

function claimKeys({ metadata, spec }: core.Pod): string[] {
  return (spec?.volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    const claim = persistentVolumeClaim?.claimName ?? (ephemeral && `${metadata.name}-${name}`);
    return claim === undefined ? [] : [`${metadata.namespace}/${claim}`];
  });
}
