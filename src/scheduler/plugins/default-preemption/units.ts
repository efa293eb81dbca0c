/**
 * What is evicted as one: a Pod, or a whole PodGroup whose disruptionMode says so.
 *
 * 1. Only with the gate WorkloadAwarePreemption; without it every Pod stands for itself, with its own priority.
 * 2. Pods of a group count with the priority of the group.
 */
import type { ClusterView, Groups, PodInfo } from "../../framework/index.ts";

export interface Unit {
  readonly priority: number;
  readonly pods: readonly PodInfo[];
  /** The group that is evicted whole. */
  readonly group?: string | undefined;
}

export class Units {
  readonly #groups: Groups | undefined;
  readonly #view: Pick<ClusterView, "nodeNamed">;

  /** `groups`: undefined without the gate. */
  constructor(groups: Groups | undefined, view: Pick<ClusterView, "nodeNamed">) {
    this.#groups = groups;
    this.#view = view;
  }

  priorityOf({ pod, priority }: PodInfo): number {
    const spec = this.#groups?.of(pod)?.object?.spec;
    return spec === undefined ? priority : (spec.priority ?? 0);
  }

  /** The group that goes with the Pod. */
  wholeOf({ pod }: PodInfo): string | undefined {
    const group = this.#groups?.of(pod);
    return group?.object?.spec.disruptionMode === "PodGroup" ? group.key : undefined;
  }

  /** These Pods, with all Pods of the groups that go with them. */
  with(pods: readonly PodInfo[]): readonly Unit[] {
    return this.of(
      new Set(
        pods.flatMap((pod) => {
          const key = this.wholeOf(pod);
          const whole = key === undefined ? [] : [...(this.#groups?.named(key)?.pods.values() ?? [])];
          const others = whole.flatMap(({ metadata, spec }) => {
            const found = this.#view.nodeNamed(spec?.nodeName ?? "")?.pods.get(metadata.uid ?? "");
            return found === undefined ? [] : [found];
          });
          return [pod, ...others];
        }),
      ),
    );
  }

  /** Of Pods that have a node. */
  of(placed: Iterable<PodInfo>): readonly Unit[] {
    const units: Unit[] = [];
    const groups = new Map<string, PodInfo[]>();
    for (const pod of placed) {
      const group = this.wholeOf(pod);
      if (group === undefined) {
        units.push({ priority: this.priorityOf(pod), pods: [pod] });
        continue;
      }
      const pods = groups.get(group);
      if (pods !== undefined) pods.push(pod);
      else {
        const fresh = [pod];
        groups.set(group, fresh);
        units.push({ priority: this.priorityOf(pod), pods: fresh, group });
      }
    }
    return units;
  }
}
