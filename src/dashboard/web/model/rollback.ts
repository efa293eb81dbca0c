/** Rolling a Deployment back to the Pod template of an earlier ReplicaSet, as `kubectl rollout undo` does. */
import type { apps } from "#api";
import { objectPath } from "../api/resources.ts";
import type { ObjectPlace } from "../route.ts";
import { type Action, permission } from "./actions.ts";

const REVISION = "deployment.kubernetes.io/revision";
const HASH = "pod-template-hash";

export interface Revision {
  readonly number: number;
  readonly template: object;
}

/** Those that a Deployment can go back to, the newest first: all but its present one. */
export function revisionsOf(uid: string, sets: Iterable<apps.ReplicaSet>): Revision[] {
  const own = [...sets].filter(({ metadata }) =>
    metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.controller === true),
  );
  const all = own.flatMap(({ metadata, spec }) => {
    const number = Number(metadata.annotations?.[REVISION] ?? Number.NaN);
    if (!Number.isInteger(number) || spec?.template === undefined) return [];
    const { [HASH]: _, ...labels } = spec.template.metadata?.labels ?? {};
    const template = { ...spec.template, metadata: { ...spec.template.metadata, labels } };
    return [{ number, template }];
  });
  return all.sort((a, b) => b.number - a.number).slice(1);
}

export function rollBack(place: ObjectPlace, revisions: readonly Revision[]): Action | undefined {
  const [newest] = revisions;
  if (newest === undefined) return undefined;
  const numbers = revisions.map(({ number }) => number);
  return {
    name: "roll-back",
    title: "Roll back",
    verb: "Roll back",
    explanation: `It can go back to the Pod template of revision ${numbers.join(", ")}.`,
    needs: [permission(place, "patch")],
    field: { label: "Revision", type: "number", value: String(newest.number) },
    plan: (input) => {
      const found = revisions.find(({ number }) => String(number) === input.trim());
      if (found === undefined) return [];
      return [
        {
          words: `Take the Pod template of revision ${found.number}`,
          method: "PATCH",
          path: objectPath(place),
          contentType: "application/json-patch+json",
          body: [{ op: "replace", path: "/spec/template", value: found.template }],
        },
      ];
    },
  };
}
