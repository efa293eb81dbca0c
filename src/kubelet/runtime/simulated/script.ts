/** How simulated containers behave. */

export interface Behaviour {
  /** When it ends by itself. Default: never. */
  readonly exit?: ScriptedExit | undefined;
  /** What it does on SIGTERM. Default: it ends at once with 143. */
  readonly onStop?: { readonly afterMs: number; readonly exitCode: number } | "ignore" | undefined;
  /** What making or starting it fails with. */
  readonly createError?: string | undefined;
  readonly startError?: string | undefined;
  /** What it leaves in its termination log at its end. */
  readonly terminationMessage?: string | undefined;
  /** Its output, as `readLog` tells it. */
  readonly log?: string | undefined;
  /** What commands in it answer. Default: 0, and nothing. */
  readonly exec?: (command: readonly string[]) => ScriptedExec;
}

export interface ScriptedExit {
  readonly afterMs: number;
  readonly code: number;
  readonly reason?: string | undefined;
}

export interface ScriptedExec {
  readonly exitCode: number;
  readonly output?: string | undefined;
  /** Default: at once. */
  readonly afterMs?: number | undefined;
}

export interface ScriptedContainer {
  readonly pod: string;
  readonly namespace: string;
  readonly name: string;
  readonly image: string;
  readonly attempt: number;
}

export interface ScriptedPull {
  readonly afterMs?: number | undefined;
  readonly error?: string | undefined;
}

export interface Script {
  readonly container?: (container: ScriptedContainer) => Behaviour;
  /** `attempt` counts pulls of the image from 0. */
  readonly pull?: (image: string, attempt: number) => ScriptedPull;
  readonly sandbox?: (
    pod: string,
    attempt: number,
  ) => { readonly error?: string; readonly afterMs?: number } | undefined;
}
