/** The resources that a cloud's controllers read and write. */
import type { core } from "#api";
import { clusterWide, namespaced } from "#client";
import type { Controller } from "#controllers";

export const Service = namespaced<core.Service>("v1", "Service", "services");
export const Node = clusterWide<core.Node>("v1", "Node", "nodes");

type Reconciler = ReturnType<Controller["bind"]>;
export type Plan = NonNullable<Awaited<ReturnType<Reconciler["reconcile"]>>>;
export type Source = Reconciler["sources"][number];
export type Write = NonNullable<Plan["steps"]>[number][number];
export type RecordedEvent = NonNullable<Plan["events"]>[number];
