/** What `register-load.mjs` printed, judged as registers: whether all could have happened one after the other. */
import { type Judgement, judgeParts, type Operation } from "../../../src/store/testing/linearizability.ts";
import {
  REGISTER,
  type RegisterInput,
  type RegisterOutput,
} from "../../../src/store/testing/linearizability-models.ts";

interface Line {
  readonly key: string;
  readonly writes: boolean;
  readonly value: string;
  readonly calledAt: number;
  readonly returnedAt: number;
  readonly status: number;
  readonly read?: string;
}

type Keyed = RegisterInput & { readonly key: string };

export interface Judged {
  readonly judgement: Judgement<Keyed, RegisterOutput>;
  readonly operations: number;
  /** Nobody knows whether they happened. */
  readonly unknown: number;
}

export function judgeHistory(printed: string): Judged {
  const lines = printed.split("\n").filter((line) => line.startsWith("{"));
  const history = lines.flatMap((line) => operationOf(JSON.parse(line) as Line) ?? []);
  const model = {
    ...REGISTER,
    step: (state: string | undefined, { key: _, ...input }: Keyed, output?: RegisterOutput) =>
      REGISTER.step(state, input as RegisterInput, output),
  };
  return {
    judgement: judgeParts(model, history, ({ key }) => key),
    operations: history.length,
    unknown: history.filter(({ output }) => output === undefined).length,
  };
}

/** Undefined: it certainly changed nothing, and says nothing. */
function operationOf(line: Line): Operation<Keyed, RegisterOutput> | undefined {
  const { key, writes, value, calledAt, returnedAt, status, read } = line;
  const at = { calledAt, returnedAt };
  if (!writes)
    return status === 200 ? { ...at, input: { key, kind: "read" }, output: { kind: "value", value: read } } : undefined;
  const isRefused = status >= 400 && status < 500;
  if (isRefused) return undefined;
  return { ...at, input: { key, kind: "write", value }, output: status === 200 ? { kind: "done" } : undefined };
}
