/** Bugs in the API server, and in how candidates use their leases. */

import type { ApiResponse, Handle } from "../../../apiserver/http/exchange.ts";
import { actorOf } from "../network.ts";
import { objectPath } from "../object-path.ts";
import type { Bug } from "./bug.ts";

export const ignoresBudgets: Bug = {
  name: "ignored-budgets",
  words: "evictions delete Pods without asking PodDisruptionBudgets",
  plant: () => ({
    server: (handle) => (request) => {
      if (objectPath(request.path).subresource !== "eviction" || request.method !== "POST") return handle(request);
      const { query, headers, user, signal } = request;
      return handle({
        ...{ method: "DELETE", path: request.path.replace(/\/eviction$/, ""), query, headers, signal },
        ...(user !== undefined && { user }),
        body: async () => Buffer.alloc(0),
        value: () => ({}),
      });
    },
  }),
};

export const keepsFinalizer: Bug = {
  name: "kept-finalizer",
  words: "the API server acknowledges that the garbage collector takes its finalizers off, and keeps them",
  plant: () => ({
    server: (handle) => (request) => {
      const isRemoval =
        request.method === "PATCH" &&
        actorOf(request.user?.name ?? "") === "generic-garbage-collector" &&
        JSON.stringify(request.value?.() ?? {}).includes("inalizers");
      return isRemoval ? handle(dryRun(request)) : handle(request);
    },
  }),
};

export const losesWrites: Bug = {
  name: "lost-write",
  words: "the API server acknowledges one change of a spec in four, and does not store it",
  plant: (random) => ({
    server: (handle) => (request) => {
      const { subresource } = objectPath(request.path);
      const isUser = request.user?.name === "user";
      if (!isUser || request.method !== "PATCH" || subresource !== "" || random.next() > 0.25) return handle(request);
      return handle(dryRun(request));
    },
  }),
};

/** The same answer, but nothing is stored. */
function dryRun(request: Parameters<Handle>[0]): Parameters<Handle>[0] {
  const { method, path, headers, user, signal, value } = request;
  const query = new URLSearchParams(request.query);
  query.set("dryRun", "All");
  return {
    ...{ method, path, query, headers, signal },
    ...(user !== undefined && { user }),
    ...(value !== undefined && { value }),
    body: (limit) => request.body(limit),
  };
}

export const readsStale: Bug = {
  name: "stale-read",
  words: "the API server answers one GET in five from what it answered before",
  plant: (random) => {
    const before = new Map<string, ApiResponse>();
    return {
      server: (handle) => async (request) => {
        const { name, subresource } = objectPath(request.path);
        if (request.method !== "GET" || name === "" || subresource !== "") return handle(request);
        const known = before.get(request.path);
        if (known !== undefined && random.next() < 0.2) return known;
        const answer = await handle(request);
        if (!("stream" in answer) && answer.status === 200) before.set(request.path, answer);
        return answer;
      },
    };
  },
};

export const leadsTooLong: Bug = {
  name: "two-leaders",
  words: "a candidate takes leases over sooner than others give them up",
  plant: () => ({
    election: (identity) =>
      identity === "candidate-b" ? { leaseMs: 4_000 } : { leaseMs: 15_000, renewDeadlineMs: 10_000 },
  }),
};
