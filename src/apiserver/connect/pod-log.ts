/** pods/log: the logs, from the kubelet of the Pod's node. */
import { badRequest, type core, type FieldError, field, invalidStatus, notFound, StatusError } from "#api";
import { wholeNumber } from "../rest/options.ts";
import type { Resource } from "../rest/resource.ts";
import type { RestRequest } from "../rest/rest-request.ts";
import type { Connector } from "./connector.ts";
import { forward, forwardUpgrade, Unreachable } from "./forward.ts";
import { kubeletRefusal } from "./kubelet-refusal.ts";
import { kubeletTarget, type PodConnections } from "./kubelet-target.ts";

/** Query parameters that are passed on to the kubelet. */
const PASSED = ["follow", "previous", "timestamps", "sinceSeconds", "sinceTime", "tailLines", "limitBytes", "stream"];

export function podLog(connections: PodConnections): Connector {
  const { pods } = connections;
  return async (request, exchange) => {
    const { namespace, name, query, context } = request;
    const errors = optionErrors(query);
    if (errors.length > 0) throw invalidStatus({ group: "", kind: "PodLogOptions" }, name, errors);
    const pod = podOf(pods, request);
    const container = containerOf(pod, query.get("container") ?? "");
    const nodeName = pod.spec?.nodeName ?? "";
    // Not scheduled yet: an empty log, not an error.
    if (nodeName === "") return { status: 204, headers: {}, body: [] };
    const asked = new URLSearchParams(PASSED.flatMap((key) => (query.has(key) ? [[key, query.get(key) ?? ""]] : [])));
    const target = kubeletTarget(connections, nodeName);
    const path = `/containerLogs/${namespace}/${name}/${container}${asked.size > 0 ? `?${asked}` : ""}`;
    try {
      const passOn = exchange.isUpgrade === true ? forwardUpgrade : forward;
      const answer = await passOn({ ...target, path }, exchange, context.clock);
      return await kubeletRefusal(answer);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      throw new StatusError("", `Get "https://${target.host}:${target.port}${path}": ${error.message}`, {
        code: 500,
        cause: error,
      });
    }
  };
}

export function podOf(pods: Resource, { namespace, name }: RestRequest): core.Pod {
  const stored = pods.cache.get(pods.suffix(namespace, name));
  if (stored === undefined) throw notFound(pods.groupResource, name);
  return pods.read(stored) as core.Pod;
}

/** The requested container, or the only one. */
export function containerOf({ metadata, spec }: core.Pod, asked: string): string {
  const names = (list: readonly { readonly name: string }[] | undefined) => (list ?? []).map(({ name }) => name);
  const [own, init, ephemeral] = [
    names(spec?.containers),
    names(spec?.initContainers),
    names(spec?.ephemeralContainers),
  ];
  if (asked === "") {
    const [only, another] = own;
    if (only !== undefined && another === undefined) return only;
    const others = init.length > 0 ? ` or one of the init containers: [${init.join(" ")}]` : "";
    throw badRequest(
      `a container name must be specified for pod ${metadata.name}, choose one of: [${own.join(" ")}]${others}`,
    );
  }
  if (![...own, ...init, ...ephemeral].includes(asked))
    throw badRequest(`container ${asked} is not valid for pod ${metadata.name}`);
  return asked;
}

function optionErrors(query: URLSearchParams): readonly FieldError[] {
  const { invalid, forbidden, notSupported } = field;
  const errors: FieldError[] = [];
  const [tail, limit, since] = ["tailLines", "limitBytes", "sinceSeconds"].map((name) => wholeNumber(query.get(name)));
  const [sinceTime, stream] = [query.get("sinceTime"), query.get("stream")];
  if (tail !== undefined && tail < 0) errors.push(invalid("tailLines", tail, "must be greater than or equal to 0"));
  if (limit !== undefined && limit < 1) errors.push(invalid("limitBytes", limit, "must be greater than 0"));
  if (since !== undefined && sinceTime) {
    errors.push(forbidden("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified"));
  } else if (since !== undefined && since < 1) errors.push(invalid("sinceSeconds", since, "must be greater than 0"));
  if (stream !== null && !["All", "Stdout", "Stderr"].includes(stream)) {
    errors.push(notSupported("stream", stream, ["All", "Stdout", "Stderr"]));
  } else if (stream !== null && stream !== "All" && tail !== undefined) {
    errors.push(forbidden("[]", "`tailLines` and specific `stream` are mutually exclusive for now"));
  }
  return errors;
}
