/** Bugs in what components send, and in what they make of what they get. */
import type { Json, JsonObject } from "#api";
import type { Handle, ApiRequest as Request } from "../../../apiserver/http/exchange.ts";
import { actorOf } from "../network.ts";
import { objectPath } from "../object-path.ts";
import type { Meddling } from "../simulated-cluster.ts";
import type { Bug } from "./bug.ts";

const MANAGER = "kube-controller-manager";
const AGAIN_MS = 2_000;

function connection(component: string, meddle: (handle: Handle) => Handle): Meddling {
  return { connection: (name, handle) => (name === component ? meddle(handle) : handle) };
}

/** The same request with another body. */
function withBody(request: Request, change: (body: JsonObject) => JsonObject): Request {
  const before = request.value;
  if (before === undefined) return request;
  const value = () => change(before() as JsonObject);
  const { method, path, query, headers, user, signal, whenGone } = request;
  return {
    ...{ method, path, query, headers, value, signal },
    ...(user !== undefined && { user }),
    ...(whenGone !== undefined && { whenGone: (call: () => void) => whenGone.call(request, call) }),
    body: async () => Buffer.from(JSON.stringify(value())),
  };
}

function without(object: JsonObject, ...names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
}

export const lostEvent: Bug = {
  name: "lost-event",
  words: "the informers of the controller manager drop one event of a Pod in forty",
  plant: (random) =>
    connection(MANAGER, (handle) => async (request) => {
      const answer = await handle(request);
      if (!("stream" in answer) || objectPath(request.path).resource !== "pods") return answer;
      return {
        ...answer,
        stream: (sink) => {
          const { event } = sink;
          return answer.stream({
            signal: sink.signal,
            write: (bytes) => sink.write(bytes),
            drop: () => sink.drop(),
            ...(event !== undefined && {
              event: (type: string, object: object) =>
                type === "MODIFIED" && random.next() < 1 / 40 ? 0 : event.call(sink, type, object),
            }),
          });
        },
      };
    }),
};

export const deletesAgain: Bug = {
  name: "delete-again",
  words: "the controller manager deletes without naming the uid of what it means, and sends each deletion twice",
  plant: () => ({
    connection: (component, handle, { clock }) => {
      if (component !== MANAGER) return handle;
      return async (request) => {
        if (request.method !== "DELETE") return handle(request);
        const byName = withBody(request, (body) => without(body, "preconditions"));
        clock.timer(AGAIN_MS, () => void Promise.resolve(handle(byName)).catch(() => {}));
        return handle(byName);
      };
    },
  }),
};

export const deletesAtOnce: Bug = {
  name: "impatient-statefulset",
  words: "the StatefulSet controller does not wait until an old Pod has ended: it removes it at once",
  plant: () =>
    connection(MANAGER, (handle) => (request) => {
      if (request.method !== "DELETE" || actorOf(request.user?.name ?? "") !== "statefulset-controller")
        return handle(request);
      return handle(withBody(request, (body) => ({ ...body, gracePeriodSeconds: 0 })));
    }),
};

export const bindsTwice: Bug = {
  name: "double-booking",
  words: "the scheduler books one node for all Pods",
  plant: () =>
    connection("kube-scheduler", (handle) => (request) => {
      if (objectPath(request.path).subresource !== "binding") return handle(request);
      return handle(
        withBody(request, (body) => ({ ...body, target: { ...(body.target as JsonObject), name: "node-1" } as Json })),
      );
    }),
};
