/** What is known of an object when `k8ts why` explains it. */
import type { core } from "#api";
import type { FlowRecord, RequestRecord } from "#flows";
import type { OngoingPull } from "#kubelet";
import type { WhyAnswer } from "./answer.ts";

/** One scheduling attempt, as served by the API. */
export interface SchedulingAttempt {
  readonly attempt: number;
  readonly outcome:
    | { readonly kind: "scheduled"; readonly node: string }
    | { readonly kind: "unschedulable"; readonly message: string; readonly nominated?: string }
    | { readonly kind: "error"; readonly message: string };
  readonly nodeCount: number;
  readonly fitting: number;
  readonly rejections: readonly {
    readonly plugin: string;
    readonly reasons: readonly string[];
    readonly nodes: number;
  }[];
  readonly best: readonly {
    readonly node: string;
    readonly total: number;
    readonly parts: Readonly<Record<string, number>>;
  }[];
}

export interface PodFacts {
  readonly name: string;
  readonly namespace: string;
  /** Undefined: it does not exist. */
  readonly pod: core.Pod | undefined;
  /** The newest last. */
  readonly events: readonly core.Event[];
  readonly attempts: readonly SchedulingAttempt[];
  /** Requests about it, the newest last. */
  readonly requests: readonly RequestRecord[];
  /** All records, to find the causes of these requests. */
  readonly records?: readonly FlowRecord[];
  readonly nodes: readonly core.Node[];
  /** All Pods that have a node and have not ended: what uses the nodes. */
  readonly placed?: readonly core.Pod[] | undefined;
  /** What is known of its claims that are not bound. */
  readonly claims?: readonly WhyAnswer[] | undefined;
  /** The last lines of the log of its container that ended, by the container's name. */
  readonly lastWords?: ReadonlyMap<string, readonly string[]> | undefined;
  /** Images that are being pulled for it. */
  readonly pulls?: readonly OngoingPull[] | undefined;
  readonly now: number;
}
