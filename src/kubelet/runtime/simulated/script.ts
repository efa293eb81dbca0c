/** How simulated containers behave. */

export interface Behaviour {
  /** When it ends by itself. Default: never. */
  readonly exit?: ScriptedExit;
  /** What it does on SIGTERM. Default: it ends at once with 143. */
  readonly onStop?: { readonly afterMs: number; readonly exitCode: number } | "ignore";
  /** What making or starting it fails with. */
  readonly createError?: string;
  readonly startError?: string;
  /** What it leaves in its termination log at its end. */
  readonly terminationMessage?: string;
  /** Its output, as `readLog` tells it. */
  readonly log?: string;
  /** What commands in it answer. Default: 0, and nothing. */
  readonly exec?: (command: readonly string[]) => ScriptedExec;
}

export interface ScriptedExit {
  readonly afterMs: number;
  readonly code: number;
  readonly reason?: string;
}

export interface ScriptedExec {
  readonly exitCode: number;
  readonly output?: string;
  /** Default: at once. */
  readonly afterMs?: number;
}

export interface ScriptedContainer {
  readonly pod: string;
  readonly namespace: string;
  readonly name: string;
  readonly image: string;
  readonly attempt: number;
}

export interface ScriptedPull {
  readonly afterMs?: number;
  readonly error?: string;
}

export interface Script {
  readonly container?: (container: ScriptedContainer) => Behaviour;
  /** `attempt` counts pulls of the image from 0. */
  readonly pull?: (image: string, attempt: number) => ScriptedPull;
  readonly sandbox?: (pod: string, attempt: number) => { readonly error?: string; readonly afterMs?: number };
}
