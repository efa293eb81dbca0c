/**
 * How long a request holds the serving thread at a time, and in which phase.
 *
 * 1. A hold is the processor time of the thread between two turns of the event loop, so other load does not count.
 * 2. Phases come from a profile of one run: the outermost function of a phase on the stack has the sample.
 */
import { Session } from "node:inspector";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

export interface Holds {
  readonly longestMs: number;
  /** Processor time of this thread. */
  readonly totalMs: number;
  readonly elapsedMs: number;
}

/** Longer than a turn takes, so that asking for the time is no load. */
const TURN_MS = 1;

export async function holdsOf(run: () => Promise<void>): Promise<Holds> {
  // What was made before is not to be collected meanwhile.
  collect();
  let longestMs = 0;
  let last = cpuMs();
  const first = last;
  const begun = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const turn = () => {
    const now = cpuMs();
    longestMs = Math.max(longestMs, now - last);
    last = now;
    timer = setTimeout(turn, TURN_MS);
  };
  timer = setTimeout(turn, TURN_MS);
  await run();
  turn();
  clearTimeout(timer);
  return { longestMs, totalMs: last - first, elapsedMs: performance.now() - begun };
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Functions by which a phase is known. */
const PHASES: Readonly<Record<string, readonly string[]>> = {
  decode: ["decodeBody", "parsePatch", "parseApplied", "parseTyped", "decodeSent"],
  patch: ["decodeChange"],
  apply: ["applyConfiguration"],
  default: ["fillInDefaults"],
  managedFields: ["recordOwners"],
  admission: ["mutate", "validateByAdmission"],
  match: ["matchNew", "matchChange", "guard"],
  prepare: ["prepareNew", "prepareObject", "prepareItsStatus", "prepareItsPart"],
  validate: ["validateNew", "validateObject", "validateItsStatus", "validateItsPart"],
  store: ["storeNew", "storeChange"],
  respond: ["answerObject", "answerList", "answerValue", "written"],
};
const phaseOf = new Map(Object.entries(PHASES).flatMap(([phase, names]) => names.map((name) => [name, phase])));

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string };
  readonly children?: readonly number[];
}

/** Milliseconds of each phase in one run. */
export async function phasesOf(run: () => Promise<void>): Promise<ReadonlyMap<string, number>> {
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.setSamplingInterval", { interval: 500 });
  session.post("Profiler.start");
  await run();
  const { nodes, samples, timeDeltas } = await new Promise<{
    nodes: readonly ProfileNode[];
    samples: readonly number[];
    timeDeltas: readonly number[];
  }>((resolve, reject) =>
    session.post("Profiler.stop", (error, { profile }) => {
      if (error !== null) reject(error);
      else resolve(profile as never);
    }),
  );
  session.disconnect();
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const phases = new Map<number, string>();
  const walk = (id: number, above: string) => {
    const node = byId.get(id);
    if (node === undefined) return;
    const name = node.callFrame.functionName;
    const own = name === "(garbage collector)" ? "gc" : name === "(idle)" ? "idle" : undefined;
    const phase = own ?? (above !== "other" ? above : (phaseOf.get(name) ?? "other"));
    phases.set(id, phase);
    for (const child of node.children ?? []) walk(child, phase);
  };
  const [root] = nodes;
  if (root !== undefined) walk(root.id, "other");
  const found = new Map<string, number>();
  for (const [at, sample] of samples.entries()) {
    const phase = phases.get(sample) ?? "other";
    found.set(phase, (found.get(phase) ?? 0) + (timeDeltas[at] ?? 0) / 1000);
  }
  found.delete("idle");
  return found;
}
