/** How simulated containers behave. */

export interface Behaviour {
  /** When it exits by itself. Default: never. */
  readonly exit?: ScriptedExit | undefined;
  /** What it does on SIGTERM. Default: it exits at once with 143. */
  readonly onStop?: { readonly afterMs: number; readonly exitCode: number } | "ignore" | undefined;
  /** The error of createContainer or startContainer. */
  readonly createError?: string | undefined;
  readonly startError?: string | undefined;
  /** How long startContainer takes. A start that is cancelled meanwhile fails, as with containerd. Default: no time. */
  readonly startAfterMs?: number | undefined;
  /** What it writes to its termination log. */
  readonly terminationMessage?: string | undefined;
  /** The contents of its log file. */
  readonly log?: string | undefined;
  /** Results of exec. Default: exit code 0 without output. */
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
