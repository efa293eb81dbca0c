/** What `register-load.mjs` printed, judged: whether all could have happened one after the other. */
import {
  type Judgement,
  judgeParts,
  type Model,
  type Operation,
  REGISTER,
  type RegisterInput,
  type RegisterOutput,
  SET,
  type SetInput,
  type SetOutput,
} from "../../../src/base/index.ts";

interface Line {
  readonly op: "read" | "write" | "add" | "list";
  readonly key: string;
  /** What was written, or added. */
  readonly value: string;
  readonly calledAt: number;
  readonly returnedAt: number;
  readonly status: number;
  /** What a read saw. */
  readonly read?: string;
  /** What a list had. */
  readonly items?: readonly string[];
}

type Keyed<Input> = Input & { readonly key: string };

export interface Judged {
  readonly judgements: readonly Judgement<unknown, unknown>[];
  readonly registers: number;
  readonly sets: number;
  /** Nobody knows whether they happened. */
  readonly unknown: number;
}

export function judgeHistory(printed: string): Judged {
  const lines = printed
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Line);
  const registers = lines.flatMap((line) => registerOperation(line) ?? []);
  const sets = lines.flatMap((line) => setOperation(line) ?? []);
  const all = [...registers, ...sets];
  return {
    judgements: [judgeKeys(REGISTER, registers), judgeKeys(SET, sets)],
    registers: registers.length,
    sets: sets.length,
    unknown: all.filter(({ output }) => output === undefined).length,
  };
}

function judgeKeys<State, Input, Output>(
  model: Model<State, Input, Output>,
  history: readonly Operation<Keyed<Input>, Output>[],
): Judgement<unknown, unknown> {
  return judgeParts<State, Keyed<Input>, Output>(model, history, ({ key }) => key);
}

/** Undefined: it is none, or it certainly changed nothing and says nothing. */
function registerOperation(line: Line): Operation<Keyed<RegisterInput>, RegisterOutput> | undefined {
  const { op, key, value, calledAt, returnedAt, status, read } = line;
  const at = { calledAt, returnedAt };
  if (op === "read" && status === 200)
    return { ...at, input: { key, kind: "read" }, output: { kind: "value", value: read } };
  if (op !== "write" || isRefused(status)) return undefined;
  return { ...at, input: { key, kind: "write", value }, output: status === 200 ? { kind: "done" } : undefined };
}

function setOperation(line: Line): Operation<Keyed<SetInput>, SetOutput> | undefined {
  const { op, key, value, calledAt, returnedAt, status, items = [] } = line;
  const at = { calledAt, returnedAt };
  if (op === "list" && status === 200) return { ...at, input: { key, kind: "list" }, output: { kind: "items", items } };
  // Its name is nobody else's: a conflict says that an attempt of the server before was applied.
  if (op !== "add" || (isRefused(status) && status !== 409)) return undefined;
  const input = { key, kind: "add", item: value } as const;
  return { ...at, input, output: status === 201 ? { kind: "changed" } : undefined };
}

function isRefused(status: number): boolean {
  return status >= 400 && status < 500;
}
