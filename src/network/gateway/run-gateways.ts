/** The Gateway API: provides routes to the HTTP server and writes the status of Gateways and HTTPRoutes. */
import { Backoff } from "#base";
import { ChangeSignal } from "../kernel/change-signal.ts";
import type { Attachments, ListenerCertificate } from "./attach.ts";
import { type FollowGatewaysOptions, followGateways } from "./follow.ts";
import { GatewayRoutes } from "./rules.ts";
import { wantedStatuses, writeStatuses } from "./status.ts";

export const GATEWAY_CONTROLLER = "k8ts.dev/gateway";
const RETRY_MS = 60_000;

export interface GatewaysOptions extends Omit<FollowGatewaysOptions, "onReload" | "controller"> {
  readonly controller?: string;
  /** Addresses for the status of Gateways. */
  readonly addresses: readonly string[];
  readonly onRoutes: (routes: GatewayRoutes, certificates: readonly ListenerCertificate[]) => void;
}

/** Until the signal aborts. */
export async function runGateways(options: GatewaysOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, random, log, tasks, addresses, onRoutes, controller = GATEWAY_CONTROLLER } = options;
  const changed = new ChangeSignal();
  let known: Attachments | undefined;
  const onReload = (attachments: Attachments) => {
    known = attachments;
    onRoutes(new GatewayRoutes(attachments.routes, random), attachments.certificates);
    changed.mark();
  };
  tasks.run("routes of Gateways", (running) => followGateways({ ...options, controller, onReload }, running));
  const backoff = new Backoff({ initialMs: 500, maxMs: 60_000, jitter: 0.2 }, random);
  for (;;) {
    await changed.wait(clock, RETRY_MS, signal);
    if (known === undefined) continue;
    const now = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
    if (await writeStatuses(client, wantedStatuses(known, { addresses, controller, now }), log, signal))
      backoff.reset();
    else {
      changed.mark();
      await clock.sleep(backoff.next(), signal);
    }
  }
}
