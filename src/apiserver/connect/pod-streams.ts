/**
 * pods/exec, attach and portforward: the connection is joined with one to the kubelet of the Pod's node, in the
 * client's protocol.
 *
 *     caller ──► (authenticated, authorized, admitted here) ──► kubelet ──► runtime
 *
 * 1. Nothing is translated: after the upgrade, bytes pass in both directions.
 * 2. Whatever the method, the right to create is required: a WebSocket begins with GET, and the right to get must not
 *    run commands.
 */

import { badRequest, StatusError } from "#api";
import { table } from "#base";
import type { Authorizer } from "../authz/authorizer.ts";
import { isTrue } from "../http/request-info.ts";
import type { Connector } from "./connector.ts";
import { demandCreate } from "./demand-create.ts";
import { forwardUpgrade, Unreachable } from "./forward.ts";
import { kubeletTarget, type PodConnections } from "./kubelet-target.ts";
import { containerOf, podOf } from "./pod-log.ts";

/** `to` one of the Pod's containers, or the Pod as a whole. */
export function podStream(connections: PodConnections, authorize: Authorizer, to: "container" | "pod"): Connector {
  return async (request, exchange) => {
    const { namespace, name, subresource, query, context } = request;
    const pod = podOf(connections.pods, request);
    const container = to === "container" ? containerOf(pod, query.get("container") ?? "") : undefined;
    const nodeName = pod.spec?.nodeName ?? "";
    if (nodeName === "") throw badRequest(`pod ${name} does not have a host assigned`);
    const target = kubeletTarget(connections, nodeName);
    if (exchange.headers.upgrade === undefined) throw badRequest("Upgrade request required");
    if (exchange.method === "GET") await demandCreate(authorize, request, exchange.path);
    const parts = [
      KUBELET_PATHS[subresource] ?? subresource,
      namespace,
      name,
      ...(container === undefined ? [] : [container]),
    ];
    const path = `/${parts.join("/")}?${kubeletQuery(query)}`;
    try {
      return await forwardUpgrade({ ...target, path }, exchange, context.clock);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      throw new StatusError("", `error dialing backend: ${error.message}`, { code: 500, cause: error });
    }
  };
}

/** The kubelet's spelling. */
const KUBELET_PATHS: Readonly<Record<string, string>> = table({ portforward: "portForward" });
/** Options with other names in the kubelet's API. */
const OPTIONS: readonly (readonly [string, string])[] = [
  ["stdin", "input"],
  ["stdout", "output"],
  ["stderr", "error"],
  ["tty", "tty"],
];

function kubeletQuery(query: URLSearchParams): URLSearchParams {
  const passed = new URLSearchParams();
  for (const [ours, theirs] of OPTIONS) if (isTrue(query.get(ours))) passed.set(theirs, "1");
  for (const command of query.getAll("command")) passed.append("command", command);
  for (const port of query.getAll("ports")) passed.append("port", port);
  return passed;
}
