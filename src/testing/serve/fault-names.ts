/** Faults by name, as `POST /k8ts/faults` takes them: a table of their fields, and what each does. */
import { badRequest } from "#api";
import { COMPONENTS, type ComponentName, type Faults, type KillOptions, type Selected } from "../faults/faults.ts";
import { type Fields, readFields } from "./fields.ts";

const SELECTED = { of: "string", method: "string", path: "string", times: "number", chance: "number" } as const;

/** All fields of all faults. */
interface Given extends Selected, KillOptions {
  readonly status?: number;
  readonly component?: string;
  readonly upToMs?: number;
  readonly agoMs?: number;
  readonly lateMs?: number;
  readonly repeats?: number;
  readonly breaks?: number;
}

interface NamedFault {
  readonly fields: Fields;
  readonly required?: readonly string[];
  /** `given` has passed `fields` and `required`. */
  readonly set: (faults: Faults, given: Given) => void;
}

const NAMED: Readonly<Record<string, NamedFault>> = {
  refuse: {
    fields: { status: "number", ...SELECTED },
    required: ["status"],
    set: (faults, { status, ...selected }) => faults.refuse(status ?? 0, selected),
  },
  loseAnswers: { fields: SELECTED, set: (faults, selected) => faults.loseAnswers(selected) },
  slow: {
    fields: { upToMs: "number", ...SELECTED },
    required: ["upToMs"],
    set: (faults, { upToMs, ...selected }) => faults.slow(upToMs ?? 0, selected),
  },
  staleLists: {
    fields: { agoMs: "number", ...SELECTED },
    required: ["agoMs"],
    set: (faults, { agoMs, ...selected }) => faults.staleLists(agoMs ?? 0, selected),
  },
  partition: {
    fields: { of: "string" },
    required: ["of"],
    set: (faults, { of }) => faults.partition(of ?? ""),
  },
  heal: { fields: { of: "string" }, set: (faults, { of }) => faults.heal(of) },
  watches: {
    fields: { of: "string", lateMs: "number", repeats: "number", breaks: "number" },
    set: (faults, late) => faults.watches(late),
  },
  closeWatches: { fields: { of: "string" }, set: (faults, { of }) => faults.closeWatches(of) },
  expireWatches: { fields: { of: "string" }, set: (faults, { of }) => faults.expireWatches(of) },
  kill: {
    fields: { component: "string", after: "number", death: "string" },
    required: ["component"],
    set: (faults, { component, after, death }) =>
      faults.kill(componentOf(component ?? ""), killOptions({ after, death })),
  },
};

export interface SetFault {
  readonly name: string;
  readonly [field: string]: unknown;
}

/** Throws a StatusError for what it does not know. */
export function setFault(faults: Faults, given: SetFault): void {
  const { name, ...fields } = given;
  const known = Object.hasOwn(NAMED, name) ? NAMED[name] : undefined;
  if (known === undefined)
    throw badRequest(`no fault is called ${JSON.stringify(name)}: there are ${Object.keys(NAMED).join(", ")}`);
  const values = readFields(fields, known.fields, `the fault ${name}`);
  for (const field of known.required ?? [])
    if (values[field] === undefined) throw badRequest(`the fault ${name} needs ${field}`);
  try {
    known.set(faults, values as Given);
  } catch (error) {
    if (error instanceof RangeError) throw badRequest(error.message);
    throw error;
  }
}

function componentOf(name: string): ComponentName {
  const found = COMPONENTS.find((each) => each === name);
  if (found === undefined) throw badRequest(`no component is called ${name}: there are ${COMPONENTS.join(", ")}`);
  return found;
}

const DEATHS = ["before it reaches the server", "before it is answered"] as const;

function killOptions({ after, death }: Readonly<Record<keyof KillOptions, unknown>>): KillOptions {
  const found = DEATHS.find((each) => each === death);
  if (death !== undefined && found === undefined) throw badRequest(`death is one of: ${DEATHS.join("; ")}`);
  return { ...(typeof after === "number" && { after }), ...(found !== undefined && { death: found }) };
}
