/**
 * Which webhooks and policies run again in the second round: those with reinvocationPolicy IfNeeded after which the
 * object changed.
 *
 *     first round     a (IfNeeded) runs ──► b changes the object ──► a has to run again
 *     second round    built-in plugins change the object ──► every webhook and policy with IfNeeded has to run again
 */
import { equalJson, type Json, type KubeObject } from "#api";
import type { Rounds } from "./rounds.ts";

export class Reinvocation {
  readonly #again = new Set<string>();
  #invoked = new Set<string>();
  #left: Json | undefined;

  begin(rounds: Rounds, object: KubeObject | undefined): void {
    if (rounds.number === 1 && !equalJson(this.#left ?? null, asJson(object))) this.#requireAll();
  }

  /** The second round runs only what has to run again, nothing for the first time. */
  mayInvoke(rounds: Rounds, id: string): boolean {
    return rounds.number === 0 || this.#again.has(id);
  }

  /** The object changed: what ran before has to run again. */
  changed(rounds: Rounds): void {
    this.#requireAll();
    rounds.again();
  }

  /** A webhook or policy with IfNeeded has run. */
  invoked(id: string): void {
    this.#invoked.add(id);
  }

  end(object: KubeObject | undefined): void {
    this.#left = structuredClone(asJson(object));
  }

  #requireAll(): void {
    for (const id of this.#invoked) this.#again.add(id);
    this.#invoked = new Set();
  }
}

function asJson(object: KubeObject | undefined): Json {
  return (object ?? null) as unknown as Json;
}
