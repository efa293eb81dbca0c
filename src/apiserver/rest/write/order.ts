/**
 * The order of a write. Create, update, the four patches, and writes of the status and of other subresources all run
 * this list.
 *
 * It is the order of Kubernetes. managedFields record what the client wrote, so they are worked out before admission
 * changes anything. What admission changed is then prepared like what the client sent: on an update it cannot reach the
 * status, on a write of the status it reaches nothing else, and a change of the spec raises the generation.
 *
 * 1. The first step that fails ends the write, and nothing is stored.
 * 2. Another writer was first: the list runs again on the object that is stored now. A generated name is taken: it runs
 *    again from `prepare` on.
 */
import { allocate } from "./allocating.ts";
import {
  decodeChange,
  decodeNew,
  fillInDefaults,
  guard,
  matchChange,
  matchNew,
  mutate,
  prepareItsPart,
  prepareItsStatus,
  prepareNew,
  prepareObject,
  recordOwners,
  validateByAdmission,
  validateItsPart,
  validateItsStatus,
  validateNew,
  validateObject,
} from "./steps.ts";
import { storeChange, storeNew } from "./storing.ts";
import type { Change, Step, WriteMode } from "./write.ts";

/** What a step does in each mode. `every`: the same in all. A mode that is absent has nothing to do. */
export interface WriteStep {
  readonly name: string;
  readonly every?: Step;
  readonly create?: Step;
  /** Of the object, of its status, of another subresource. */
  readonly update?: Step<Change>;
  readonly status?: Step<Change>;
  readonly part?: Step<Change>;
}

export const WRITE_ORDER: readonly WriteStep[] = [
  { name: "decode", create: decodeNew, update: decodeChange, status: decodeChange, part: decodeChange },
  { name: "default", every: fillInDefaults },
  { name: "own (managedFields)", every: recordOwners },
  { name: "mutate (admission)", every: mutate },
  {
    name: "match (namespace, resourceVersion)",
    create: matchNew,
    update: matchChange,
    status: matchChange,
    part: matchChange,
  },
  { name: "guard (rights)", every: guard },
  { name: "prepare", create: prepareNew, update: prepareObject, status: prepareItsStatus, part: prepareItsPart },
  { name: "allocate", create: allocate, update: allocate },
  {
    name: "validate (kind)",
    create: validateNew,
    update: validateObject,
    status: validateItsStatus,
    part: validateItsPart,
  },
  { name: "validate (admission)", every: validateByAdmission },
  { name: "store", create: storeNew, update: storeChange, status: storeChange, part: storeChange },
];

/** The list as each mode runs it. */
export const writeSteps: Readonly<Record<WriteMode, readonly Step[]>> = {
  create: stepsOf("create"),
  update: stepsOf("update"),
  status: stepsOf("status"),
  part: stepsOf("part"),
};

export const stepsFromPrepare: readonly Step[] = writeSteps.create.slice(writeSteps.create.indexOf(prepareNew));

function stepsOf(mode: WriteMode): readonly Step[] {
  return WRITE_ORDER.flatMap((step) => step.every ?? (step[mode] as Step | undefined) ?? []);
}
