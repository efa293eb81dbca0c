/** What the API server has answered is true. */
import { equalJson, isObject, type Json, type KubeObject } from "#api";
import { firstAnomaly, type VersionedOperation } from "#base";
import { type Call, type History, revisionOf } from "../history.ts";
import { nameOf } from "../world.ts";
import type { Broken, Invariant } from "./invariant.ts";

const WRITES = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/** Subresources that are about another object, or about none. */
const OTHERS = new Set(["binding", "eviction", "token", "scale"]);

export const nothingLost: Invariant = {
  name: "nothing-lost",
  words: "what was acknowledged is in the store, and a user's last word stands",
  begin({ history, world }) {
    const revisions = new Map<number, string>();
    /** The last acknowledged write of each object by a user. */
    const wanted = new Map<string, KubeObject>();
    return {
      committed({ revision, object, previous }) {
        revisions.set(revision, (object ?? previous)?.metadata.uid ?? "");
        return undefined;
      },
      answered(call) {
        const { actor, about, answer } = call;
        const object = answer?.object;
        const revision = revisionOf(object);
        if (!isAcknowledged(call) || object === undefined || revision === undefined) return undefined;
        if (revision > history.origin && revisions.get(revision) !== object.metadata.uid)
          return broken(object, `was acknowledged at a revision that the store does not have`);
        if (actor !== "user" || about.subresource !== "") return undefined;
        const { uid = "" } = object.metadata;
        const before = wanted.get(uid);
        if (before === undefined || (revisionOf(before) ?? 0) < revision) wanted.set(uid, object);
        return undefined;
      },
      end() {
        for (const [uid, object] of wanted) {
          const found = world.withUid(uid);
          if (found === undefined || found.metadata.deletionTimestamp !== undefined) continue;
          for (const part of ["spec", "data"] as const)
            if (!equalJson(partOf(object, part), partOf(found, part)))
              return broken(object, `has another ${part} than its user was told`);
        }
        return undefined;
      },
    };
  },
};

export const linearizable: Invariant = {
  name: "linearizable",
  words: "reads see what was written before them, and each object has one history",
  begin: ({ history }) => ({
    end() {
      const byObject = new Map<string, VersionedOperation[]>();
      for (const call of history.calls) {
        const operation = operationOf(call, history);
        if (operation === undefined) continue;
        const { resource, namespace, name } = call.about;
        const key = `${resource} ${namespace}/${name}`;
        const known = byObject.get(key);
        if (known === undefined) byObject.set(key, [operation]);
        else known.push(operation);
      }
      for (const [key, operations] of byObject) {
        const anomaly = firstAnomaly(operations);
        if (anomaly !== undefined) return { says: `${key}: ${anomaly}`, about: key };
      }
      return undefined;
    },
  }),
};

/** A read or a write of one object, by the revision that it saw or made. */
function operationOf(call: Call, history: History): VersionedOperation | undefined {
  const { method, about, query, from, answer, path } = call;
  if (answer?.object === undefined || answer.status >= 300 || OTHERS.has(about.subresource)) return undefined;
  if (query.get("watch") === "true" || query.has("resourceVersion")) return undefined;
  const revision = revisionOf(answer.object);
  const isCreate = method === "POST";
  if (revision === undefined || about.resource === "" || (about.name === "" && !isCreate) || path.endsWith("/log"))
    return undefined;
  // An answer to a deletion may have the last revision before it.
  if (isCreate || method === "DELETE") return undefined;
  // A write that changes nothing is a read.
  const written = history.writtenAt(revision) ?? 0;
  const isWrite = method !== "GET" && written > from && written < answer.at;
  return { calledAt: from, returnedAt: answer.at, input: { kind: isWrite ? "write" : "read" }, output: revision };
}

function isAcknowledged({ method, about, answer }: Call): boolean {
  if (answer === undefined || answer.status >= 300) return false;
  return WRITES.has(method) && method !== "DELETE" && !OTHERS.has(about.subresource) && about.resource !== "";
}

function partOf(object: KubeObject, part: "spec" | "data"): Json {
  const value = (object as unknown as Record<string, Json>)[part] ?? null;
  if (object.kind !== "Node" || !isObject(value)) return value;
  // Controllers taint nodes.
  const { taints: _, ...rest } = value;
  return rest;
}

function broken(object: KubeObject, says: string): Broken {
  const about = nameOf(object);
  return { says: `${about} ${says}`, about };
}
