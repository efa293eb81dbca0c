/**
 * Tells the scheduler how much room there is: a CSIStorageCapacity for each class of the driver and each topology
 * segment, as external-provisioner does with --enable-capacity.
 *
 *     classes, nodes --► places ──► GetCapacity ══► CSIStorageCapacity
 *                           ▲ every minute, and after volumes come, go and grow
 */
import { equalJson, kinds, type storage } from "#api";
import { type Controller, defineController, keysFrom, type Plan } from "#controllers";
import { DriverAccess } from "../calls/driver-access.ts";
import { driverParameters } from "../calls/secrets.ts";
import { isOfDriver } from "../calls/volumes.ts";
import type { DriverControllers } from "../driver-controllers.ts";
import { type Segments, segmentsOfNodes } from "../provisioner/topology.ts";
import type { OwnerReference } from "./owner.ts";
import { capacityWrites, keyOf, keyOfCapacity, type Owner, placeOf, segmentsOfVolume } from "./plan.ts";

export interface CapacityOptions {
  readonly drivers: DriverControllers;
  readonly account: string;
  /** Where the objects are. Default: kube-system. */
  readonly namespace?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /** `--capacity-poll-interval`. Default: 1 minute. */
  readonly pollMs?: number | undefined;
  /** `--capacity-for-immediate-binding`. Default: false. */
  readonly forImmediate?: boolean | undefined;
  /** Of whom the objects are. Default: external-provisioner. */
  readonly manager?: string | undefined;
  /** With which the objects go: see capacityOwner. */
  readonly ownedBy?: OwnerReference | undefined;
}

/** Volumes come in bursts: a place is measured at most this often. */
const CALM_MS = 1_000;

export const capacities = (options: CapacityOptions): Controller => {
  const { drivers, account, namespace = "kube-system", timeoutMs = 10_000, pollMs = 60_000 } = options;
  const { forImmediate = false, manager = "external-provisioner" } = options;
  const { driverName } = drivers;
  const owner: Owner = { driverName, manager, namespace, reference: options.ownedBy };
  return defineController({
    name: "csi-capacity",
    account,
    bind({ cache, clock, log }) {
      const access = new DriverAccess(drivers, timeoutMs);
      const classes = cache(kinds.StorageClass);
      const nodes = cache(kinds.Node);
      const csiNodes = cache(kinds.CSINode);
      const capacitiesByKey = cache(kinds.CSIStorageCapacity).index(`of ${driverName}`, (object) => {
        const key = keyOfCapacity(object, owner);
        return key === undefined ? [] : [key];
      });
      const measuredMs = new Map<string, number>();
      const csiNodeOf = csiNodes.get.bind(csiNodes);

      const isOurs = ({ provisioner, volumeBindingMode }: storage.StorageClass) =>
        provisioner === driverName && (forImmediate || volumeBindingMode === "WaitForFirstConsumer");
      const keysAt = (segments: readonly Segments[]) =>
        classes
          .list()
          .filter(isOurs)
          .flatMap(({ metadata: { name = "" } }) => segments.map((each) => keyOf({ className: name, segments: each })));
      const segmentsAt = (name: string) => {
        const node = nodes.get(name);
        return node === undefined ? [] : segmentsOfNodes({ driverName, nodes: [node], csiNodeOf });
      };
      const exists = (segments: Segments) => {
        const { nodeTopologyKey } = access;
        const local = nodeTopologyKey === undefined ? undefined : nodes.get(segments[nodeTopologyKey] ?? "");
        const among = nodeTopologyKey === undefined ? nodes.list() : local === undefined ? [] : [local];
        return segmentsOfNodes({ driverName, nodes: among, csiNodeOf }).some((each) => equalJson(each, segments));
      };

      return {
        sources: [
          keysFrom(kinds.StorageClass, ({ object }) => {
            const className = object.metadata.name ?? "";
            if (object.provisioner !== driverName) return [];
            const all = segmentsOfNodes({ driverName, nodes: nodes.list(), csiNodeOf });
            return all.map((segments) => keyOf({ className, segments }));
          }),
          keysFrom(kinds.Node, ({ type, object, old }) => {
            const hasMoved = type !== "updated" || !equalJson(object.metadata.labels ?? {}, old?.metadata.labels ?? {});
            if (!hasMoved) return [];
            const seen = [object, ...(old === undefined ? [] : [old])];
            return keysAt(segmentsOfNodes({ driverName, nodes: seen, csiNodeOf }));
          }),
          keysFrom(kinds.CSINode, ({ object, old }) => {
            const node = nodes.get(object.metadata.name ?? "");
            if (node === undefined) return [];
            const of = (csiNode: storage.CSINode | undefined) =>
              segmentsOfNodes({ driverName, nodes: [node], csiNodeOf: () => csiNode });
            return keysAt([...of(object), ...of(old)]);
          }),
          keysFrom(kinds.PersistentVolume, ({ type, object, old }) => {
            const counts = type !== "updated" || !equalJson(object.spec?.capacity ?? {}, old?.spec?.capacity ?? {});
            if (!counts || !isOfDriver(object, driverName)) return [];
            const segments = segmentsOfVolume(object);
            return Object.keys(segments).length === 0 ? [] : keysAt([segments]);
          }),
          // Own writes change nothing; one that is gone, or was left by another process, is looked after.
          keysFrom(kinds.CSIStorageCapacity, ({ type, object }) => {
            const key = keyOfCapacity(object, owner);
            if (key === undefined || type === "updated" || (type === "added" && measuredMs.has(key))) return [];
            return [key];
          }),
        ],
        async reconcile(key, _now, signal): Promise<Plan | undefined> {
          const place = placeOf(key);
          const storageClass = classes.get(place.className);
          const existing = capacitiesByKey(key);
          if (storageClass === undefined || !isOurs(storageClass) || !exists(place.segments)) {
            measuredMs.delete(key);
            return existing.length === 0 ? undefined : { steps: [capacityWrites(place, undefined, existing, owner)] };
          }
          const calmMs = (measuredMs.get(key) ?? Number.NEGATIVE_INFINITY) + CALM_MS - clock.monotonic();
          if (calmMs > 0) return { againAfterMs: existing.length === 1 ? calmMs : 0 };
          measuredMs.set(key, clock.monotonic());
          try {
            const { nodeTopologyKey } = access;
            const driver = access.at(nodeTopologyKey === undefined ? undefined : place.segments[nodeTopologyKey]);
            const { topology, capacity } = await access.abilities(driver, signal);
            if (!topology || !capacity) return undefined;
            const answer = await driver.Controller.GetCapacity(
              {
                parameters: driverParameters(storageClass.parameters ?? {}),
                accessibleTopology: { segments: { ...place.segments } },
              },
              access.limits(signal),
            );
            const maximum = answer.maximumVolumeSize?.value;
            const measured = {
              capacityBytes: BigInt(answer.availableCapacity),
              maximumBytes: maximum === undefined ? undefined : BigInt(maximum),
            };
            return { steps: [capacityWrites(place, measured, existing, owner)], againAfterMs: pollMs };
          } catch (error) {
            if (signal.aborted) throw error;
            log.warn("a storage capacity could not be measured", { ...place, error });
            return { againAfterMs: pollMs };
          }
        },
        run: (signal, enqueue) =>
          access.follow(signal, () => {
            measuredMs.clear();
            const found = access.nodes()?.flatMap(segmentsAt);
            for (const key of keysAt(found ?? segmentsOfNodes({ driverName, nodes: nodes.list(), csiNodeOf })))
              enqueue(key);
          }),
      };
    },
  });
};
