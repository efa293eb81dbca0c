/** One write on its way to the store, and the runner of its steps. The steps and their order stand in `order.ts`. */
import type { KubeObject } from "#api";
import { isPending, type Maybe } from "#base";
import type { StoredObject } from "../../cache/stored-object.ts";
import type { AnyDraft } from "../draft.ts";
import type { RestRequest } from "../rest-request.ts";
import type { Allocation } from "../server-context.ts";
import { giveBackAfter } from "./allocating.ts";
import type { Persisted } from "./persist.ts";

/** What a request makes of the current object. */
export interface Proposal {
  readonly draft: AnyDraft;
  /** Its managedFields are up to date already (apply). */
  readonly owned?: boolean;
  /** All but status and metadata is the stored object's own, frozen: see `fillInStatus`. */
  readonly sharesRest?: boolean;
  /** The object stays as it is stored; no further step runs. */
  readonly unchanged?: boolean;
}

/** `part`: another subresource of the same kind, such as `approval` or `resize`. */
export type WriteMode = "create" | "update" | "status" | "part";

export interface Write {
  readonly request: RestRequest;
  readonly mode: WriteMode;
  readonly dryRun: boolean;
  /** Decodes the body, or patches the current object. Called once for each try. */
  propose(): Maybe<Proposal>;
  /** What is stored. Absent on create. */
  readonly current: StoredObject | undefined;
  /** `current` in the kind's own form. */
  readonly old: KubeObject | undefined;

  /** Set by the first step; the later ones change it in place. */
  draft: AnyDraft;
  owned: boolean;
  sharesRest: boolean;
  /** The name is made of `generateName`: another one is tried if it is taken. */
  generatesName: boolean;
  allocation: Allocation | undefined;
  /** Set by the step that ends the write. */
  outcome: Persisted | undefined;
  /** The draft is in the store: it keeps what was allocated for it. */
  persisted: boolean;
}

/** A write of an object that exists. */
export interface Change extends Write {
  readonly current: StoredObject;
  readonly old: KubeObject;
}

export type Step<W extends Write = Write> = (write: W) => Maybe<void>;

export function newWrite(
  request: RestRequest,
  { dryRun, propose }: Pick<Write, "dryRun" | "propose">,
  current?: StoredObject,
  old?: KubeObject,
): Write {
  return {
    request,
    mode: current === undefined ? "create" : modeOfChange(request),
    dryRun,
    propose,
    current,
    old,
    draft: { metadata: {} } as AnyDraft,
    owned: false,
    sharesRest: false,
    generatesName: false,
    allocation: undefined,
    outcome: undefined,
    persisted: false,
  };
}

function modeOfChange({ subresource }: RestRequest): WriteMode {
  if (subresource === "") return "update";
  return subresource === "status" ? "status" : "part";
}

/**
 * Runs steps until one sets the outcome. What was allocated is kept if the draft was stored, and given back if it was
 * not.
 */
export async function run(write: Write, steps: readonly Step[]): Promise<Persisted> {
  // A further try with another generated name starts anew.
  Object.assign(write, { allocation: undefined, outcome: undefined, persisted: false });
  try {
    const done = inOrder(write, steps, 0);
    if (isPending(done)) await done;
  } catch (error) {
    await giveBackAfter(error, write.allocation);
    throw error;
  }
  const { allocation, outcome, persisted } = write;
  if (allocation !== undefined) await (persisted ? allocation.keep() : allocation.giveBack());
  if (outcome === undefined) throw new Error("a write ended without an outcome");
  return outcome;
}

/** A step that has nothing to wait for makes no promise: a turn costs more than most steps. */
function inOrder(write: Write, steps: readonly Step[], from: number): Maybe<void> {
  for (let at = from; at < steps.length && write.outcome === undefined; at++) {
    const done = steps[at]?.(write);
    if (isPending(done)) return done.then(() => inOrder(write, steps, at + 1));
  }
}
