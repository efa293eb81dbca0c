/** RuntimeClass: the runtime handler of a pod, its overhead and its scheduling. */

import { newPod, validateOverhead, validateTolerations } from "../core/pod/index.ts";
import { ageColumn } from "../definition/columns.ts";
import { defineKind } from "../definition/define-kind.ts";
import { jsonOf, requireFits, unchangedField } from "../definition/field-checks.ts";
import { duplicate, type FieldError, type FieldPath } from "../machinery/errors/field-error.ts";
import { validateLabels } from "../machinery/names/labels.ts";
import { checkDns1123Label } from "../machinery/names/names.ts";
import type { RuntimeClass as RuntimeClassObject, Scheduling } from "../types/node-v1.ts";

export const RuntimeClass = defineKind<RuntimeClassObject>("node.k8s.io/v1", "RuntimeClass", {
  validate: ({ handler, overhead, scheduling }, at) => [
    ...requireFits(checkDns1123Label, handler, at.child("handler")),
    ...(overhead === undefined ? [] : validateOverhead(overhead.podFixed ?? {}, at.child("overhead"), newPod)),
    ...(scheduling === undefined ? [] : validateScheduling(scheduling, at.child("scheduling"))),
  ],
  update: {
    validate: (next, old, at) => unchangedField("node.v1.RuntimeClass", "handler", next, old, at),
    allowCreate: true,
    allowUnconditional: false,
  },
  columns: [{ name: "Handler", type: "string", cell: ({ handler }) => handler ?? "" }, ageColumn],
});

function validateScheduling({ nodeSelector, tolerations = [] }: Scheduling, at: FieldPath): readonly FieldError[] {
  const tolerationsAt = at.child("tolerations");
  const seen = new Set<string>();
  const repeated = tolerations.flatMap((toleration, i) => {
    const text = JSON.stringify(Object.entries(toleration).sort());
    if (seen.has(text)) return [duplicate(tolerationsAt.index(i), jsonOf(toleration))];
    seen.add(text);
    return [];
  });
  return [
    ...validateLabels(nodeSelector, at.child("nodeSelector")),
    ...validateTolerations(tolerations, tolerationsAt),
    ...repeated,
  ];
}
