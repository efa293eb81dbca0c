/**
 * What a job asks the serving thread, as the parts of a context that a write knows: admission, rights, allocators.
 *
 * 1. One question at a time: a write waits for each answer.
 */
import type { Json, KubeObject } from "#api";
import type { Admission, AdmissionAttributes, Allocator, WriteGuard } from "../rest/server-context.ts";
import { errorOf } from "./failure.ts";
import { headOf } from "./head.ts";
import type { Send } from "./jobs.ts";
import { cut, join, type Pieces } from "./pieces.ts";
import type { Answer, AskedWrite, Question } from "./protocol.ts";

export class Asker {
  /** Whether the value of the object that is there has to be written again. */
  outdated = false;
  /** Called with the name of an object that exists. */
  taken: (suffix: string) => void = () => {};
  readonly #id: number;
  readonly #send: Send;
  #waiting: PromiseWithResolvers<Answer> | undefined;
  /** The object that is there: sent for its revision. */
  #old: KubeObject | undefined;
  #sentRevision: number | undefined;

  constructor(id: number, send: Send) {
    this.#id = id;
    this.#send = send;
  }

  readonly admission: Admission = {
    mutate: (attributes) => this.#admit("mutate", attributes),
    validate: (attributes) => this.#admit("validate", attributes),
  };

  readonly guard: WriteGuard = async ({ object, old }) => {
    await this.ask({ do: "guard", write: this.#write(object, old, false) });
  };

  readonly allocator: Allocator = {
    allocate: async ({ draft, old, dryRun }) => {
      const answer = await this.ask({ do: "allocate", write: this.#write(draft as KubeObject, old, dryRun) });
      if (answer.is === "changed") take(draft, answer.object);
      return {
        keep: async () => void (await this.ask({ do: "keep" })),
        giveBack: async () => void (await this.ask({ do: "giveBack" })),
      };
    },
    release: async (object) => void (await this.ask({ do: "release", object: cut(object) })),
  };

  async mayCreate(): Promise<void> {
    await this.ask({ do: "mayCreate" });
  }

  /** The object that is there, which the job deletes. */
  deleting(): KubeObject {
    if (this.#old === undefined) throw new Error("nothing is there to be deleted");
    return this.#old;
  }

  /** Nobody waits for the answer. */
  tell(question: Question): void {
    this.#send({ type: "asked", id: this.#id, question });
  }

  async ask(question: Question): Promise<Answer> {
    const waiting = Promise.withResolvers<Answer>();
    this.#waiting = waiting;
    this.#send({ type: "asked", id: this.#id, question });
    const answer = await waiting.promise;
    if (answer.is === "failed") throw errorOf(answer.failure);
    return answer;
  }

  replied(answer: Answer): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(answer);
  }

  async #admit(phase: "mutate" | "validate", { object, old, dryRun }: AdmissionAttributes): Promise<void> {
    if (object === undefined) throw new Error("a write without an object");
    this.#old = old;
    let answer = await this.ask({ do: "admit", phase, write: headOnly(object, old, dryRun) });
    if (answer.is === "whole") answer = await this.ask({ do: "admit", phase, write: this.#write(object, old, dryRun) });
    if (answer.is === "changed") take(object, answer.object);
    if (answer.is === "taken") this.taken(answer.suffix);
  }

  #write(object: KubeObject, old: KubeObject | undefined, dryRun: boolean): AskedWrite {
    const pieces = cut(object);
    if (old === undefined) return { isHead: false, object: pieces, dryRun, oldRevision: undefined, old: undefined };
    const oldRevision = revisionOf(old);
    const isSent = this.#sentRevision === oldRevision;
    this.#sentRevision = oldRevision;
    return { isHead: false, object: pieces, dryRun, oldRevision, old: isSent ? undefined : cut(old) };
  }
}

function headOnly(object: KubeObject, old: KubeObject | undefined, dryRun: boolean): AskedWrite {
  return {
    isHead: true,
    object: cut(headOf(object)),
    dryRun,
    oldRevision: old && revisionOf(old),
    old: old && cut(headOf(old)),
  };
}

function revisionOf({ metadata }: KubeObject): number {
  return Number(metadata.resourceVersion ?? 0);
}

/** The draft is changed in place: the steps of the write hold it. */
function take(draft: object, pieces: Pieces): void {
  const fields = draft as Record<string, Json>;
  for (const key of Object.keys(fields)) delete fields[key];
  Object.assign(fields, join(pieces));
}
