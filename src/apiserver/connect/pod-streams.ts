/**
 * pods/exec, attach and portforward, up to the point where a connection becomes a stream of its own: the kubelet is looked for, and what keeps it
 * from being reached is told. The stream itself is not an answer that the pipeline could give.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { badRequest, StatusError } from "#api";
import type { Connector } from "./connector.ts";
import { dialError } from "./dial-error.ts";
import { type KubeletAddress, kubeletAddress } from "./node-address.ts";
import { containerOf, type PodConnections, podOf } from "./pod-log.ts";

const CONNECT_TIMEOUT_MS = 5_000;

/** `toContainer`: to one of the Pod's containers, not to the Pod as a whole. */
export function podStream({ pods, nodes }: PodConnections, toContainer: boolean): Connector {
  return async (request, exchange) => {
    const pod = podOf(pods, request);
    if (toContainer) containerOf(pod, request.query.get("container") ?? "");
    const nodeName = pod.spec?.nodeName ?? "";
    if (nodeName === "") throw badRequest(`pod ${request.name} does not have a host assigned`);
    const kubelet = kubeletAddress(nodes, nodeName);
    if (exchange.headers.upgrade === undefined) throw badRequest("Upgrade request required");
    await dial(kubelet, exchange.signal);
    throw new StatusError("", "this server does not pass on streams to nodes", { code: 501 });
  };
}

async function dial({ host, port }: KubeletAddress, signal: AbortSignal): Promise<void> {
  const socket = connect({ host, port, signal, timeout: CONNECT_TIMEOUT_MS });
  socket.once("timeout", () => socket.destroy(Object.assign(new Error("timeout"), { code: "ETIMEDOUT" })));
  try {
    await once(socket, "connect");
  } catch (error) {
    throw new StatusError("", `error dialing backend: ${dialError(error, host, port)}`, { code: 500, cause: error });
  } finally {
    socket.destroy();
  }
}
