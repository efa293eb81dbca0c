/**
 * Controllers, scheduler and simulated nodes in the process of a standalone API server, for tests that start nothing
 * but etcd and kube-apiserver.
 *
 * 1. They end before the server does.
 * 2. What needs the key of the cluster's authority is left out: such a server has none.
 */
import type { Features } from "#api";
import type { ApiServer } from "#apiserver";
import type { Clock, Logger, MetricsRegistry, Random, TaskGroup } from "#base";
import { createAuthority } from "#pki";
import type { ControllerFigures } from "../in-process/controller-figures.ts";
import type { SchedulingReasons } from "../reasons/scheduling-reasons.ts";

/** The group of administrators: without the authorization mode Node, nodes have no rights of their own. */
const MASTERS = "system:masters";
const NEEDS_THE_KEY = "certificatesigningrequest-signing-controller";

export interface CompanionsConfig {
  /** Controllers, as in `--controllers`, and the scheduler. Default: none. */
  readonly controllers?: readonly string[] | undefined;
  /** How many simulated nodes. Default: none. */
  readonly nodes?: number | undefined;
}

export interface CompanionsOptions {
  readonly server: Pick<ApiServer, "handle" | "signToken">;
  /** What clients trust to be the server. */
  readonly caPem: string;
  /** Whether other API servers use the same store. */
  readonly elects: boolean;
  readonly reasons: SchedulingReasons;
  readonly features: Features;
  readonly metrics: MetricsRegistry;
  readonly figures: ControllerFigures;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export async function startCompanions(
  { controllers, nodes = 0 }: CompanionsConfig,
  options: CompanionsOptions,
  background: TaskGroup,
): Promise<void> {
  const { server, caPem, figures, ...shared } = options;
  const { handle, signToken } = server;
  if (controllers !== undefined && controllers.length > 0) {
    const { checkSelection, runControllerManager } = await import("../in-process/controller-manager.ts");
    checkSelection(controllers);
    const { runInProcessScheduler } = await import("../in-process/scheduler.ts");
    // Its key signs nothing: the controller that would is left out.
    const { keyPem } = await createAuthority({ commonName: "nobody", clock: options.clock });
    const metrics = await figures();
    const own = { authority: { certPem: caPem, keyPem }, selection: [...controllers, `-${NEEDS_THE_KEY}`] };
    background.run("controller manager", (signal) =>
      runControllerManager({ ...shared, ...own, metrics, handle, signToken }, signal),
    );
    background.run("scheduler", (signal) => runInProcessScheduler({ ...shared, handle }, signal));
  }
  if (nodes === 0) return;
  const { simulatedNodes } = await import("../in-process/simulated-nodes.ts");
  const fleet = simulatedNodes({ ...shared, handle, nodes: { count: nodes }, groups: [MASTERS] });
  background.run("simulated nodes", (signal) => fleet.run(signal));
}
