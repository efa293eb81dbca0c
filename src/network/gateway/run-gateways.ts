/** The Gateway API: provides routes to the servers, and writes the status of its objects. */
import { Backoff } from "#base";
import { ChangeSignal } from "../kernel/change-signal.ts";
import type { Attachments } from "./attach.ts";
import { type FollowGatewaysOptions, followGateways } from "./follow.ts";
import type { ListenerCertificate } from "./listeners.ts";
import type { BackendPolicies } from "./policies.ts";
import { GatewayRoutes } from "./rules.ts";
import { wantedStatuses, writeStatuses } from "./status.ts";
import { StreamRoutes } from "./stream-routes.ts";

export const GATEWAY_CONTROLLER = "k8ts.dev/gateway";
const RETRY_MS = 60_000;

export interface GatewaysOptions extends Omit<FollowGatewaysOptions, "onReload" | "controller"> {
  readonly controller?: string;
  /** Addresses for the status of Gateways. */
  readonly addresses: readonly string[];
  readonly onRoutes: (served: ServedGateways) => void;
}

export interface ServedGateways {
  readonly routes: GatewayRoutes;
  readonly streams: StreamRoutes;
  readonly certificates: readonly ListenerCertificate[];
  readonly tlsOf: BackendPolicies["tlsOf"];
}

/** Until the signal aborts. */
export async function runGateways(options: GatewaysOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, random, log, tasks, addresses, onRoutes, controller = GATEWAY_CONTROLLER } = options;
  const changed = new ChangeSignal();
  let known: { readonly attachments: Attachments; readonly policies: BackendPolicies } | undefined;
  const onReload = (attachments: Attachments, policies: BackendPolicies) => {
    known = { attachments, policies };
    onRoutes({
      routes: new GatewayRoutes(attachments.routes, random),
      streams: new StreamRoutes(attachments, random),
      certificates: attachments.certificates,
      tlsOf: policies.tlsOf,
    });
    changed.mark();
  };
  tasks.run("routes of Gateways", (running) => followGateways({ ...options, controller, onReload }, running));
  const backoff = new Backoff({ initialMs: 500, maxMs: 60_000, jitter: 0.2 }, random);
  for (;;) {
    await changed.wait(clock, RETRY_MS, signal);
    if (known === undefined) continue;
    const now = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
    const policies = known.policies.judged;
    const wanted = wantedStatuses(known.attachments, { addresses, controller, now, policies });
    if (await writeStatuses(client, wanted, log, signal)) backoff.reset();
    else {
      changed.mark();
      await clock.sleep(backoff.next(), signal);
    }
  }
}
